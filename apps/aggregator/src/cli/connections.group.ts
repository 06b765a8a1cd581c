import { Command } from '@commander-js/extra-typings';
import { openPage } from './open-page.js';
import type { RestClient } from './rest-client.js';
import { usageError } from './exit-codes.js';
import { objectIn, readInput } from './input.js';
import { type CommandResult, type Perform, state } from './session.js';
import { table } from './table.js';

type Environment = Readonly<Record<string, string | undefined>>;

export function connectionsGroup(perform: Perform, env: Environment) {
  const group = new Command('connections').description(
    'servers that are called with your own credentials',
  );
  group
    .command('list', { isDefault: true })
    .description('which servers take your credentials, and which have them')
    .action(() => perform(listConnections));
  group
    .command('connect <server>')
    .description('print the address where you connect a server, or give its keys from a file')
    .option('--open', 'open the address in the browser of this machine')
    .option('--keys <file>', 'a JSON object of keys by their names; - for standard input')
    .addHelpText(
      'after',
      '\nKeys are no options, because other users of a machine can read the options of a program.',
    )
    .action((server, { open, keys }) =>
      perform((rest) =>
        keys === undefined
          ? connectByLink(rest, server, open === true, env)
          : connectByKeys(rest, server, keys),
      ),
    );
  group
    .command('disconnect <server>')
    .description('delete your credentials for a server, at once')
    .action((server) => perform((rest) => disconnect(rest, server)));
  return group;
}

async function listConnections(rest: RestClient): Promise<CommandResult> {
  const json = await rest.ask((api) => api.listConnections());
  return {
    json,
    text: (screen) => {
      if (json.connections.length === 0) return 'No server takes your own credentials.';
      const rows = json.connections.map((one) => [
        one.server_name,
        state(one.status, screen),
        one.uses_oauth ? 'login' : one.fields.join(' '),
        one.connected_at ?? '',
        one.expires_at ?? '',
      ]);
      return table(['SERVER', 'STATUS', 'WITH', 'SINCE', 'RENEWED AT'], rows, screen);
    },
  };
}

async function connectByLink(
  rest: RestClient,
  server: string,
  isOpened: boolean,
  env: Environment,
): Promise<CommandResult> {
  const { id, name } = await ownServer(rest, server);
  const link = await rest.ask((api) => api.makeConnectLink({ path: { id } }));
  const problem = isOpened ? await openPage(link.url, env) : undefined;
  const until = new Date(link.expires_at).toLocaleTimeString('en-GB');
  const lines = [
    `Open this until ${until} in a browser where you are logged in (switchboard login) to connect ${name}:`,
    link.url,
    ...(problem === undefined ? [] : [problem]),
  ];
  return { json: link, text: lines.join('\n') };
}

async function connectByKeys(
  rest: RestClient,
  server: string,
  file: string,
): Promise<CommandResult> {
  const { id, name } = await ownServer(rest, server);
  const given = Object.entries(objectIn(await readInput(file), 'The keys'));
  const values = Object.fromEntries(
    given.map(([key, value]) => {
      if (typeof value === 'string') return [key, value];
      throw usageError(`The key ${key} must be a text`);
    }),
  );
  const json = await rest.ask((api) => api.giveCredentials({ path: { id }, body: { values } }));
  return { json, text: `Connected: ${name} is called with your credentials.` };
}

async function disconnect(rest: RestClient, server: string): Promise<CommandResult> {
  const { id, name } = await ownServer(rest, server);
  await rest.ask((api) => api.endOwnConnection({ path: { id } }));
  return {
    json: { server_id: id, server_name: name, disconnected: true },
    text: `Disconnected: calls of ${name} are refused until you connect it again.`,
  };
}

async function ownServer(
  rest: RestClient,
  given: string,
): Promise<{ readonly id: string; readonly name: string }> {
  const { connections } = await rest.ask((api) => api.listConnections());
  const found = connections.find(
    ({ server_id: id, server_name: name }) => name === given || id === given,
  );
  if (found) return { id: found.server_id, name: found.server_name };
  throw usageError(
    `No server ${given} takes your own credentials; switchboard connections lists those that do`,
  );
}
