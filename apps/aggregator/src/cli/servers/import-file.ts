import { readServersFile, UnreadableServersFile } from '@app/registry';
import { CliError, exitCodes, usageError } from '../exit-codes.js';
import { readInput } from '../input.js';
import type { RestClient } from '../rest-client.js';
import type { CommandResult } from '../session.js';
import { table } from '../table.js';

/**
 * Registers the servers of a client's `mcpServers` file. An invalid entry does not affect the others; registered
 * servers stay unchanged.
 */
export async function importFile(rest: RestClient, file: string): Promise<CommandResult> {
  const { entries, skipped } = await read(file);
  if (entries.length + skipped.length === 0) {
    return { json: { servers: [] }, text: `${file} has no servers: its list is empty` };
  }
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
  const isGood = results.every((result) => !result.outcome.startsWith('skipped: '));
  return {
    json: { servers: results },
    text: (screen) =>
      table(
        ['NAME', ''],
        results.map((result) => [result.name, result.outcome]),
        screen,
      ),
    exitCode: isGood ? exitCodes.ok : exitCodes.failed,
  };
}

async function read(file: string): Promise<ReturnType<typeof readServersFile>> {
  const text = await readInput(file);
  try {
    return readServersFile(text, file);
  } catch (error) {
    if (!(error instanceof UnreadableServersFile)) throw error;
    throw usageError(error.message);
  }
}
