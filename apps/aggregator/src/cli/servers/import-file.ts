import type { PolicyDocumentDto, PolicyOutcomeView } from '@app/api-client';
import { jsonTextOf, parseConfigFile, UnreadableConfigFile } from '@app/platform';
import { readServersFile, UnreadableServersFile } from '@app/registry';
import { CliError, exitCodes, usageError } from '../exit-codes.js';
import { isMembers, readInput } from '../input.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { table } from '../table.js';

interface Result {
  readonly name: string;
  readonly outcome: string;
}

/**
 * Registers the servers of a client's `mcpServers` file, and makes views, grants and overrides what it says. An invalid
 * entry does not affect the others; registered servers stay unchanged.
 */
export async function importFile(
  rest: RestClient,
  file: string,
  isPruning: boolean,
): Promise<CommandResult> {
  const { entries, skipped, policy } = await read(file);
  if (isPruning && !policy?.views) {
    throw usageError(`--prune removes what ${file} does not have, and it has no "views" at all`);
  }
  if (entries.length + skipped.length === 0 && !policy) {
    return { json: { servers: [] }, text: `${file} has no servers: its list is empty` };
  }
  const servers = await registerServers(rest, { entries, skipped });
  const outcome =
    policy &&
    (await rest.ask((api) =>
      api.importPolicy({ body: policy, ...(isPruning && { query: { prune: true } }) }),
    ));
  const isGood =
    servers.every((result) => !result.outcome.startsWith('skipped: ')) && !outcome?.refused.length;
  const rows = [...servers, ...(outcome ? policyResults(outcome) : [])];
  const same = outcome?.unchanged
    ? `${outcome.unchanged} views, grants and overrides are so already.`
    : '';
  return {
    json: { servers, ...(outcome && { policy: outcome }) },
    text: (screen) => {
      const cells = rows.map((result) => [result.name, result.outcome]);
      const shown = rows.length === 0 ? '' : table(['NAME', ''], cells, screen);
      return [shown, same].filter((part) => part !== '').join('\n');
    },
    exitCode: isGood ? exitCodes.ok : exitCodes.failed,
  };
}

async function registerServers(
  rest: RestClient,
  { entries, skipped }: ReturnType<typeof readServersFile>,
): Promise<readonly Result[]> {
  const results = skipped.map(({ key, reason }) => ({ name: key, outcome: `skipped: ${reason}` }));
  for (const { registration } of entries) {
    const body = {
      name: registration.name,
      transport_type: registration.transportType,
      connection_config: registration.connectionConfig,
      auto_connect: registration.autoConnect,
      ...(registration.description != null && { description: registration.description }),
    };
    const outcome = await rest
      .ask((api) => api.registerServer({ body }))
      .then(
        () => 'registered',
        (error: unknown) => {
          if (!(error instanceof CliError) || error.exitCode !== exitCodes.failed) throw error;
          if (error.code === 'SERVER_ALREADY_EXISTS') return 'already registered';
          return `skipped: ${error.message}`;
        },
      );
    results.push({ name: registration.name, outcome });
  }
  return results;
}

function policyResults({ changed, removed, refused }: PolicyOutcomeView): readonly Result[] {
  return [
    ...changed.map((name) => ({ name, outcome: 'changed' })),
    ...removed.map((name) => ({ name, outcome: 'removed' })),
    ...refused.map(({ place, reason }) => ({ name: place, outcome: `refused: ${reason}` })),
  ];
}

type Read = ReturnType<typeof readServersFile> & { readonly policy?: PolicyDocumentDto };

async function read(file: string): Promise<Read> {
  const given = await readInput(file);
  try {
    const text = await jsonTextOf(given, file);
    const found = readServersFile(text, file);
    const policy = policyIn(parseConfigFile(text));
    return { ...found, ...(policy && { policy }) };
  } catch (error) {
    if (error instanceof UnreadableConfigFile) {
      throw usageError(`The servers file ${file} cannot be used: ${error.message}`);
    }
    if (!(error instanceof UnreadableServersFile)) throw error;
    throw usageError(error.message);
  }
}

/** The service checks what is in them, and names the place of each mistake. */
function policyIn(content: unknown): PolicyDocumentDto | undefined {
  const { views, overrides } = isMembers(content) ? content : {};
  if (views === undefined && overrides === undefined) return undefined;
  if (views !== undefined && !isMembers(views)) throw usageError('"views" must be an object');
  if (overrides !== undefined && !isMembers(overrides)) {
    throw usageError('"overrides" must be an object');
  }
  return { ...(views && { views }), ...(overrides && { overrides }) };
}
