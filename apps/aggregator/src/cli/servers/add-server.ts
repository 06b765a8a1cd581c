import type { RegisterServerDto } from '@app/api-client';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { usageError } from '../exit-codes.js';
import { type JsonMembers, objectIn, readInput } from '../input.js';
import { pairOf } from '../option-values.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';

export interface NewServer {
  readonly serverUrl?: string | undefined;
  readonly sse?: true | undefined;
  readonly env?: readonly string[] | undefined;
  readonly header?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly file?: string | undefined;
  readonly description?: string | undefined;
  readonly healthCheckUrl?: string | undefined;
  readonly trust?: RegisterServerDto['trust'];
  readonly credentials?: RegisterServerDto['credentials'];
  readonly connect: boolean;
}

export async function addServer(
  rest: RestClient,
  name: string,
  command: readonly string[],
  server: NewServer,
): Promise<CommandResult> {
  const { description, healthCheckUrl } = server;
  const body: RegisterServerDto = {
    name,
    ...(description !== undefined && { description }),
    ...(healthCheckUrl !== undefined && { health_check_url: healthCheckUrl }),
    ...(server.trust && { trust: server.trust }),
    ...(server.credentials && { credentials: server.credentials }),
    ...(!server.connect && { auto_connect: false }),
    ...(await connectionOf(command, server)),
  };
  const json = await rest.ask((api) => api.registerServer({ body }));
  const paths = server.cwd === undefined ? command.filter(isPathFromHere) : [];
  return {
    json,
    text: [
      `${name} is registered. "switchboard servers show ${name}" shows its status.`,
      ...paths.map(
        (path) =>
          `Note: ${path} is looked up in the server's own folder, not here. Use an absolute path, or --cwd "$PWD".`,
      ),
    ].join('\n'),
  };
}

/** Programs do not run in the folder of the command line. */
function isPathFromHere(argument: string): boolean {
  return /[./\\]/.test(argument) && !isAbsolute(argument) && existsSync(argument);
}

type Connection = Pick<RegisterServerDto, 'transport_type' | 'connection_config'>;

export async function connectionOf(
  command: readonly string[],
  server: Omit<NewServer, 'connect'>,
): Promise<Connection> {
  const { serverUrl: url, file } = server;
  const ways = [command[0], url, file].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    throw usageError(
      'Give exactly one of -- <command> [arguments], --server-url <url> and --file <file>',
    );
  }
  if (file !== undefined) return fromFile(objectIn(await readInput(file), file));
  return url === undefined ? program(command, server) : remote(url, server);
}

function program(
  [command, ...args]: readonly string[],
  server: Omit<NewServer, 'connect'>,
): Connection {
  if (server.header || server.sse) {
    throw usageError(
      '--header and --sse are for servers with --server-url; a program takes --env.',
    );
  }
  const env = Object.fromEntries((server.env ?? []).map((text) => pairOf(text, '=')));
  const { cwd } = server;
  return {
    transport_type: 'STDIO',
    connection_config: { command, args, env, ...(cwd !== undefined && { cwd }) },
  };
}

function remote(url: string, server: Omit<NewServer, 'connect'>): Connection {
  if (server.env || server.cwd !== undefined) {
    throw usageError('--env and --cwd are for programs; a server with a URL takes --header.');
  }
  const headers = Object.fromEntries(
    (server.header ?? []).map((text) => {
      const [name, value] = pairOf(text, ':');
      return [name, value.trim()];
    }),
  );
  return server.sse
    ? { transport_type: 'SSE', connection_config: { url, headers } }
    : { transport_type: 'HTTP', connection_config: { base_url: url, headers } };
}

/** Each transport has one member that the others do not have. */
function fromFile(config: JsonMembers): Connection {
  const transport = 'base_url' in config ? 'HTTP' : 'url' in config ? 'SSE' : 'STDIO';
  return { transport_type: transport, connection_config: config };
}
