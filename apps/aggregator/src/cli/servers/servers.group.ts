import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { showEvents } from '../events.js';
import { collect, count, seconds } from '../option-values.js';
import type { Perform } from '../session.js';
import { addServer } from './add-server.js';
import { editServer } from './edit-server.js';
import { serverLogs } from './follow-logs.js';
import { listServers, showServer } from './show-servers.js';
import { authorizeServer, connectServer, disconnectServer, removeServer } from './switch-server.js';

const STATUSES = ['CONNECTED', 'CONNECTING', 'DEGRADED', 'DISCONNECTED', 'ERROR'] as const;

function statusOf(text: string): (typeof STATUSES)[number] {
  const found = STATUSES.find((status) => status === text.toUpperCase());
  if (!found) throw new InvalidArgumentError(`It must be one of ${STATUSES.join(', ')}.`);
  return found;
}

export function serversGroup(perform: Perform) {
  const group = new Command('servers').description('register, connect and look at servers');
  group
    .command('list', { isDefault: true })
    .description('what is registered, and how it is')
    .option('--status <status>', 'only servers with it, such as connected', statusOf)
    .action(({ status }) => perform((rest) => listServers(rest, status)));
  group
    .command('show <server>')
    .description('one server, with how it is reached; secrets are masked')
    .action((server) => perform((rest) => showServer(rest, server)));
  group.addCommand(addCommand('add', perform));
  group.addCommand(editCommand(perform));
  group
    .command('remove <server>')
    .description('remove a server with its tools and history')
    .action((server) => perform((rest) => removeServer(rest, server)));
  addSwitches(group, perform);
  group
    .command('logs <server>')
    .description('the last lines that a program wrote to standard error')
    .option('-f, --follow', 'go on with new lines as they are written, until Ctrl-C')
    .option('-n, --lines <count>', 'only the last so many', count)
    .action((server, options) =>
      perform((rest, output) => serverLogs(rest, output, server, options)),
    );
  group
    .command('events <server>')
    .description('what happened to a server, newest first')
    .option('--limit <count>', 'most of them', count, 20)
    .action((server, { limit }) => perform((rest) => showEvents(rest, server, limit)));
  group.addCommand(importCommand(perform));
  return group;
}

/** Also `switchboard add`. */
export function addCommand(name: string, perform: Perform) {
  return new Command(name)
    .description('register a program (-- <command> [arguments]) or a URL (--server-url)')
    .argument('<name>')
    .argument('[command...]', 'program and arguments, after --')
    .option('--server-url <url>', 'a server that speaks Streamable HTTP')
    .option('--sse', 'the URL speaks HTTP+SSE, the transport before it')
    .option('--env <NAME=value>', 'variable of the program; may be repeated', collect)
    .option('--header <Name:value>', 'header of every request; may be repeated', collect)
    .option('--cwd <folder>', 'working directory of the program (default: a folder of its own)')
    .option(
      '--file <file>',
      'JSON file with the connection_config, for example with oauth; - is standard input',
    )
    .option('--description <text>', 'what the server is for')
    .option('--health-check-url <url>', 'URL that tells how the server is')
    .option('--no-connect', 'register only')
    .action((server, command, options) =>
      perform((rest) => addServer(rest, server, command, options)),
    );
}

function editCommand(perform: Perform) {
  return new Command('edit')
    .description('change a server; without options, its configuration in $EDITOR')
    .argument('<server>')
    .option(
      '--set <key=value>',
      'member of the configuration, as in env.NAME=value; may be repeated',
      collect,
    )
    .option('--unset <key>', 'remove a member; may be repeated', collect)
    .option('--file <file>', 'JSON file with the whole configuration; - is standard input')
    .option('--name <name>', 'another name, also in the names of its tools')
    .option('--description <text>', 'another description; "" removes it')
    .option('--health-check-url <url>', 'another URL; "" removes it')
    .addHelpText(
      'after',
      '\nLists and objects are written as JSON (args=["a","b"]), everything else is text.\nA masked secret (********) that stays as it is keeps the stored one.',
    )
    .action((server, options) => perform((rest) => editServer(rest, server, options)));
}

function addSwitches(group: Command, perform: Perform): void {
  group
    .command('connect <server>')
    .description('connect a server and keep it connected; waits until its tools are there')
    .option(
      '--wait <seconds>',
      'how long to wait for the connection, and for the tools',
      seconds,
      30,
    )
    .action((server, { wait }) => perform((rest) => connectServer(rest, server, wait)));
  group
    .command('disconnect <server>')
    .description('disconnect a server; pending calls may end first')
    .option('--wait <seconds>', 'how long to wait until it is disconnected', seconds, 30)
    .option('--force', 'do not let pending calls end')
    .action((server, options) => perform((rest) => disconnectServer(rest, server, options)));
  group.addCommand(authorizeCommand(perform));
}

/** Also `switchboard authorize`. */
export function authorizeCommand(perform: Perform) {
  return new Command('authorize')
    .description('where to consent to what a server may be used for')
    .argument('<server>')
    .action((server) => perform((rest) => authorizeServer(rest, server)));
}

/** Also `switchboard import`. */
export function importCommand(perform: Perform) {
  return new Command('import')
    .description("register the servers of another MCP client's configuration")
    .argument('<file>')
    .action((file) =>
      perform(async (rest) => {
        // Imported on demand: the modules that parse it take longer to load than a command takes.
        const { importFile } = await import('./import-file.js');
        return importFile(rest, file);
      }),
    );
}
