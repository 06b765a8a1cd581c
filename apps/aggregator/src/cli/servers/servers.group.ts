import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { showEvents } from '../events.js';
import { collect, count, seconds } from '../option-values.js';
import type { Perform } from '../session.js';
import { addServer } from './add-server.js';
import { editServer } from './edit-server.js';
import { serverLogs } from './follow-logs.js';
import { listServers, showServer } from './show-servers.js';
import { showTimeline } from './show-timeline.js';
import { testServer } from './test-server.js';
import { authorizeServer, connectServer, disconnectServer, removeServer } from './switch-server.js';

const STATUSES = ['CONNECTED', 'CONNECTING', 'DEGRADED', 'DISCONNECTED', 'ERROR'] as const;

function statusOf(text: string): (typeof STATUSES)[number] {
  const found = STATUSES.find((status) => status === text.toUpperCase());
  if (!found) throw new InvalidArgumentError(`It must be one of ${STATUSES.join(', ')}.`);
  return found;
}

function trustOption() {
  return new Option('--trust <trust>', 'what happens to tools that change').choices([
    'auto',
    'pinned',
    'review',
    'locked',
  ] as const);
}

function credentialsOption() {
  return new Option(
    '--credentials <whose>',
    'whose credentials calls are made with; per_user: ${user.NAME} in headers or variables, or a login',
  ).choices(['shared', 'per_user', 'exchange'] as const);
}

export function serversGroup(perform: Perform) {
  const group = new Command('servers').description('register, connect and inspect servers');
  group
    .command('list', { isDefault: true })
    .description('list registered servers and their status')
    .option('--status <status>', 'only servers with this status, such as connected', statusOf)
    .action(({ status }) => perform((rest) => listServers(rest, status)));
  group
    .command('show <server>')
    .description('show a server and its connection configuration; secrets are masked')
    .action((server) => perform((rest) => showServer(rest, server)));
  group.addCommand(addCommand('add', perform));
  group.addCommand(testCommand(perform));
  group.addCommand(editCommand(perform));
  group
    .command('remove <server>')
    .description('remove a server with its tools and history')
    .action((server) => perform((rest) => removeServer(rest, server)));
  addSwitches(group, perform);
  group
    .command('logs <server>')
    .description('print the last lines that a STDIO server wrote to standard error')
    .option('-f, --follow', 'print new lines as they are written, until Ctrl-C')
    .option('-n, --lines <count>', 'maximum number of lines', count)
    .action((server, options) =>
      perform((rest, output) => serverLogs(rest, output, server, options)),
    );
  group
    .command('events <server>')
    .description('list the connection and configuration events of a server, newest first')
    .option('--limit <count>', 'maximum number of events', count, 20)
    .action((server, { limit }) => perform((rest) => showEvents(rest, server, limit)));
  group
    .command('timeline <server>')
    .description('show the statuses of a server over time, with the reasons')
    .option('--window <window>', 'how far back: minutes, hours or days, such as 90m or 7d', '24h')
    .action((server, { window }) => perform((rest) => showTimeline(rest, server, window)));
  group.addCommand(importCommand(perform));
  return group;
}

/** Also `switchboard add`. */
export function addCommand(name: string, perform: Perform) {
  return new Command(name)
    .description('register a program (-- <command> [arguments]) or a URL (--server-url)')
    .argument('<name>')
    .argument('[command...]', 'program and arguments, after --')
    .option('--server-url <url>', 'URL of a Streamable HTTP server')
    .option('--sse', 'the URL is of an HTTP+SSE server, the older transport')
    .option('--env <NAME=value>', 'environment variable of the program; may be repeated', collect)
    .option(
      '--header <Name:value>',
      'HTTP header sent with every request; may be repeated',
      collect,
    )
    .option('--cwd <folder>', 'working directory of the program (default: a folder of its own)')
    .option(
      '--file <file>',
      'JSON file with the connection_config, for example with oauth; - is standard input',
    )
    .option('--description <text>', 'what the server is for')
    .option('--health-check-url <url>', 'URL for health checks; HTTP 200 means healthy')
    .addOption(trustOption())
    .addOption(credentialsOption())
    .option('--no-connect', 'register without connecting')
    .action((server, command, options) =>
      perform((rest) => addServer(rest, server, command, options)),
    );
}

function testCommand(perform: Perform) {
  return new Command('test')
    .description('connect to a configuration without saving it, and list what it offers')
    .argument('<name>', 'a registered server, or a name for what follows')
    .argument('[command...]', 'program and arguments, after --')
    .option('--server-url <url>', 'URL of a Streamable HTTP server')
    .option('--sse', 'the URL is of an HTTP+SSE server, the older transport')
    .option('--env <NAME=value>', 'environment variable of the program; may be repeated', collect)
    .option(
      '--header <Name:value>',
      'HTTP header sent with every request; may be repeated',
      collect,
    )
    .option('--cwd <folder>', 'working directory of the program (default: a temporary folder)')
    .option('--file <file>', 'JSON file with the connection_config; - is standard input')
    .action((name, command, options) =>
      perform((rest) => testServer(rest, name, command, options)),
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
    .option('--unset <key>', 'remove a member of the configuration; may be repeated', collect)
    .option('--file <file>', 'JSON file with the whole configuration; - is standard input')
    .option('--name <name>', 'new name; also renames the tools of the server')
    .option('--description <text>', 'new description; "" removes it')
    .option('--health-check-url <url>', 'new URL for health checks; "" removes it')
    .addOption(trustOption())
    .addOption(credentialsOption())
    .option('--default-trust', 'as the setting MCP_AGGREGATOR_TRUST says')
    .addHelpText(
      'after',
      '\nWrite lists and objects as JSON (args=["a","b"]); every other value is text.\nLeave a masked secret (********) unchanged to keep the stored value.',
    )
    .action((server, options) => perform((rest) => editServer(rest, server, options)));
}

function addSwitches(group: Command, perform: Perform): void {
  group
    .command('connect <server>')
    .description('connect a server and keep it connected; waits until its tools can be called')
    .option('--wait <seconds>', 'maximum wait for the connection and the tools', seconds, 30)
    .action((server, { wait }) => perform((rest) => connectServer(rest, server, wait)));
  group
    .command('disconnect <server>')
    .description('disconnect a server after its pending calls have ended')
    .option('--wait <seconds>', 'maximum wait for pending calls', seconds, 30)
    .option('--force', 'cancel pending calls')
    .action((server, options) => perform((rest) => disconnectServer(rest, server, options)));
  group.addCommand(authorizeCommand(perform));
}

/** Also `switchboard authorize`. */
export function authorizeCommand(perform: Perform) {
  return new Command('authorize')
    .description('print the URL where a user consents to the OAuth access of a server')
    .argument('<server>')
    .action((server) => perform((rest) => authorizeServer(rest, server)));
}

/** Also `switchboard import`. */
export function importCommand(perform: Perform) {
  return new Command('import')
    .description("register the servers in an MCP client's configuration file, and apply its views")
    .argument('<file>')
    .option('--prune', 'remove views, grants and overrides that the file does not have')
    .action((file, { prune }) =>
      perform(async (rest) => {
        // Imported on demand: the modules that parse it take longer to load than a command takes.
        const { importFile } = await import('./import-file.js');
        return importFile(rest, file, prune ?? false);
      }),
    );
}
