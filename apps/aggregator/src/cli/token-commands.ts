import type { SecretTokenView, TokenView } from '@app/api-client';
import { Command, Option } from '@commander-js/extra-typings';
import { CliError, exitCodes, usageError } from './exit-codes.js';
import { duration, type Level, LEVELS } from './option-values.js';
import type { RestClient } from './rest-client.js';
import type { CommandResult, Perform } from './session.js';
import { fields, table } from './table.js';

const ROLES = ['viewer', 'caller', 'operator', 'admin'] as const;
type Role = (typeof ROLES)[number];
const SCOPES = ['read', 'call', 'operate', 'admin'] as const;
type Scope = (typeof SCOPES)[number];

export function tokensGroup(perform: Perform) {
  const group = new Command('tokens').description('what programs and people log in with');
  group
    .command('list', { isDefault: true })
    .description('all tokens, those of the configuration too; never a secret')
    .action(() => perform(listTokens));
  group
    .command('create <name>')
    .description('make a token, and print it this once')
    .addOption(
      new Option(
        '--role <role>',
        'viewer lists and searches, caller (the default) also calls tools, operator also does daily work, admin does all',
      ).choices(ROLES),
    )
    .addOption(
      new Option('--scopes <scopes...>', 'the same in scopes; each includes those before it')
        .choices(SCOPES)
        .conflicts('role'),
    )
    .option('--expires <time>', 'after 30d, 12h, 90m or 45s; without it never', duration)
    .option('--view <view>', 'the only view that it can use, at every address')
    .addOption(new Option('--level <level>', 'how far it reaches on that view').choices(LEVELS))
    .action((name, options) => perform((rest) => createToken(rest, name, options)));
  group
    .command('rotate <name>')
    .description('replace the secret of a token, and print the new one this once')
    .option('--overlap <time>', 'for how long the old one is accepted, such as 1h', duration)
    .action((name, { overlap }) => perform((rest) => rotateToken(rest, name, overlap)));
  group
    .command('invite <name>')
    .description(
      'print a link with which a person chooses a password for a token, once, in 24 hours',
    )
    .action((name) => perform((rest) => invitePerson(rest, name)));
  group
    .command('revoke <name>')
    .description('refuse a token from now on, and end its sessions')
    .action((name) => perform((rest) => revokeToken(rest, name)));
  return group;
}

async function allTokens(rest: RestClient) {
  return rest.list(
    (api, page) => api.listTokens({ query: page }),
    ({ tokens }) => tokens,
  );
}

async function listTokens(rest: RestClient): Promise<CommandResult> {
  const { first, items } = await allTokens(rest);
  const rows = items.map((token) => [
    token.name,
    token.role ?? '',
    token.expires_at ?? '',
    token.last_used_at ?? '',
    token.created_by ?? 'configuration',
  ]);
  return {
    json: { ...first, tokens: items },
    text: (screen) =>
      rows.length === 0
        ? 'There are no tokens.'
        : table(['TOKEN', 'ROLE', 'EXPIRES', 'LAST USED', 'CREATED BY'], rows, screen),
  };
}

interface TokenOptions {
  readonly role?: Role | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly expires?: number | undefined;
  readonly view?: string | undefined;
  readonly level?: Level | undefined;
}

async function createToken(
  rest: RestClient,
  name: string,
  { role = 'caller', scopes, expires, view, level }: TokenOptions,
): Promise<CommandResult> {
  if (level !== undefined && view === undefined) {
    throw usageError('--level is about the view of the token: give --view too');
  }
  const body = {
    name,
    ...(scopes ? { scopes: [...scopes] } : { role }),
    ...(expires !== undefined && { expires_in_seconds: expires }),
    ...(view !== undefined && { view }),
    ...(level !== undefined && { level }),
  };
  return shown(await rest.ask((api) => api.issueToken({ body })));
}

async function rotateToken(
  rest: RestClient,
  name: string,
  overlap: number | undefined,
): Promise<CommandResult> {
  const id = await issuedId(rest, name);
  const body = overlap === undefined ? {} : { overlap_seconds: overlap };
  return shown(await rest.ask((api) => api.rotateToken({ path: { id }, body })));
}

async function invitePerson(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await issuedId(rest, name);
  const invitation = await rest.ask((api) => api.invitePerson({ path: { id } }));
  return { json: invitation, text: invitation.url };
}

async function revokeToken(rest: RestClient, name: string): Promise<CommandResult> {
  const id = await issuedId(rest, name);
  await rest.ask((api) => api.revokeToken({ path: { id } }));
  return { json: { id, name, revoked: true }, text: `${name} is revoked.` };
}

function shown(token: SecretTokenView): CommandResult {
  return {
    json: token,
    text: fields([
      ['token', token.token],
      ['name', token.name],
      ['role', token.role],
      ['scopes', token.scopes.join(' ')],
      ['expires', token.expires_at],
      ['the one before is accepted until', token.previous_until],
    ]),
  };
}

/** A token of the configuration has no id: it is changed there. */
async function issuedId(rest: RestClient, name: string): Promise<string> {
  const { items } = await allTokens(rest);
  const found = items.find((token: TokenView) => token.name === name || token.id === name);
  if (!found) {
    throw new CliError(`There is no token ${name}.`, exitCodes.notFound, 'TOKEN_NOT_FOUND');
  }
  if (found.id === null) {
    const advice = 'change MCP_AGGREGATOR_TOKENS, or the file admin-token in the data folder';
    throw new CliError(`${name} is a token of the configuration: ${advice}.`, exitCodes.failed);
  }
  return found.id;
}
