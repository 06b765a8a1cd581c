#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { add, authorize, call, health, type Outcome, search, servers } from './cli/commands.js';
import { CliError, exitCodes, locateService, RestClient } from './cli/rest-client.js';

const HELP = `switchboard: one endpoint for many MCP servers

  switchboard servers                                what is registered, and how it is
  switchboard add <name> -- <command> [arguments]    register a program   (--env NAME=value)
  switchboard add <name> --server-url <url> [--sse]  register a URL       (--header Name:value)
  switchboard authorize <server>                     where to consent to what a server may be used for
  switchboard import <file>                          register the servers of a client's configuration
  switchboard search <what a tool should do>         find tools           (--limit 10)
  switchboard call <tool> [name=value …] | ['{…}']   call a tool
  switchboard health                                 how the service and its servers are
  switchboard stdio [all | search | <server>]        be an MCP server for a client that starts programs

  --url <url>      where the service is (SWITCHBOARD_URL; else the data folder says)
  --token <token>  a token of it (SWITCHBOARD_TOKEN; else that of the data folder)
  --json           answers for programs

Ends with 0 when all is well, 1 when the service or a tool said no, 2 for wrong usage,
3 when there is no service, 4 when the token is missing or not enough.
`;

const { values, positionals } = readArguments();
const [command, ...rest] = positionals;

try {
  if (values.help || command === undefined) {
    process.stdout.write(HELP);
    process.exitCode = values.help ? exitCodes.ok : exitCodes.usage;
  } else {
    // These are not settings of the service, whose reading would take longer than a command.
    const service = locateService(values, process.env);
    // Loaded when needed: both bring much that the other commands start faster without.
    if (command === 'stdio') {
      const { serveStdio } = await import('./cli/stdio.js');
      await serveStdio(service, rest[0] ?? 'all');
    }
    print(await run(command, new RestClient(service)));
  }
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  process.stderr.write(
    values.json ? `${JSON.stringify({ error: error.message })}\n` : `${error.message}\n`,
  );
  process.exitCode = error.exitCode;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        token: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        'server-url': { type: 'string' },
        sse: { type: 'boolean', default: false },
        env: { type: 'string', multiple: true, default: [] },
        header: { type: 'string', multiple: true, default: [] },
        description: { type: 'string' },
        limit: { type: 'string', default: '10' },
      },
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exit(exitCodes.usage);
  }
}

async function run(name: string, client: RestClient): Promise<Outcome> {
  switch (name) {
    case 'servers':
      return servers(client);
    case 'add':
      return add(client, {
        name: required(rest[0], 'a name'),
        command: rest.slice(1),
        url: values['server-url'],
        isSse: values.sse,
        env: values.env,
        headers: values.header,
        description: values.description,
      });
    case 'authorize':
      return authorize(client, required(rest[0], 'a server'));
    case 'import': {
      const { importFile } = await import('./cli/import-file.js');
      return importFile(client, required(rest[0], 'a file'));
    }
    case 'search':
      return search(client, required(rest.join(' '), 'what to look for'), Number(values.limit));
    case 'call':
      return call(client, required(rest[0], 'a tool'), rest.slice(1));
    case 'health':
      return health(client);
    default:
      throw new CliError(`There is no command ${name}.\n\n${HELP}`, exitCodes.usage);
  }
}

function required(text: string | undefined, what: string): string {
  if (!text) throw new CliError(`Say ${what}; "switchboard --help" shows how.`, exitCodes.usage);
  return text;
}

function print({ json, text, exitCode = exitCodes.ok }: Outcome): void {
  process.stdout.write(`${values.json ? JSON.stringify(json) : text}\n`);
  process.exitCode = exitCode;
}
