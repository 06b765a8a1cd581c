import { readServersFile } from '@app/registry';
import { readFile } from 'node:fs/promises';
import type { Outcome } from './commands.js';
import { CliError, exitCodes, type RestClient } from './rest-client.js';
import { table } from './table.js';

/** Registers what an `mcpServers` file of a client has; one bad entry costs no other. */
export async function importFile(rest: RestClient, file: string): Promise<Outcome> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CliError(`${file} cannot be read`, exitCodes.usage);
  });
  const { entries, skipped } = readServersFile(text, file);
  const results = skipped.map(({ key, reason }) => ({ name: key, outcome: `skipped: ${reason}` }));
  for (const { registration } of entries) {
    const body = {
      name: registration.name,
      transport_type: registration.transportType,
      connection_config: registration.connectionConfig,
      auto_connect: registration.autoConnect,
      ...(registration.description != null && { description: registration.description }),
    };
    const outcome = await rest.request('POST', '/api/v1/aggregator/servers', body).then(
      () => 'registered',
      (error: unknown) => {
        if (!(error instanceof CliError) || error.exitCode !== exitCodes.failed) throw error;
        return `skipped: ${error.message}`;
      },
    );
    results.push({ name: registration.name, outcome });
  }
  const isGood = results.every((result) => result.outcome === 'registered');
  return {
    json: { servers: results },
    text: table(
      ['NAME', ''],
      results.map((result) => [result.name, result.outcome]),
    ),
    exitCode: isGood ? exitCodes.ok : exitCodes.failed,
  };
}
