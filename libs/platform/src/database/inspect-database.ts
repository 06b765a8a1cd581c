import { z } from 'zod';
import type { Database } from './database.js';
import type { MigrationClass } from './migrations.js';

export interface DatabaseState {
  /** Such as 15.14. */
  readonly version: string;
  readonly major: number;
  /** Names of migrations that the next start applies. */
  readonly pending: readonly string[];
  /** Names of migrations of a newer version of Switchboard. */
  readonly unknown: readonly string[];
  /** Its clock minus the clock of this machine. */
  readonly clockAheadMs: number;
}

const versionRows = z.array(z.object({ version: z.string(), number: z.string(), now: z.string() }));
const thereRows = z.array(z.object({ there: z.boolean() }));
const nameRows = z.array(z.object({ name: z.string() }));

/** For the doctor: reads only. */
export async function inspectDatabase(
  database: Database,
  migrations: readonly MigrationClass[],
): Promise<DatabaseState> {
  const tx = database.direct;
  const askedAt = new Date().getTime();
  const [facts] = versionRows.parse(
    await tx.query(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
         extract(epoch FROM clock_timestamp())::text AS now`,
    ),
  );
  const between = (askedAt + new Date().getTime()) / 2;
  const [schema] = thereRows.parse(
    await tx.query(`SELECT to_regclass('mcp.migrations') IS NOT NULL AS there`),
  );
  const applied = schema?.there
    ? nameRows.parse(await tx.query('SELECT name FROM mcp.migrations ORDER BY id'))
    : [];
  const known = migrations.map(({ name }) => name);
  const done = new Set(applied.map(({ name }) => name));
  return {
    version: facts?.version ?? '',
    major: Math.floor(Number(facts?.number) / 10_000),
    pending: known.filter((name) => !done.has(name)),
    unknown: [...done].filter((name) => !known.includes(name)),
    clockAheadMs: Math.round(Number(facts?.now) * 1_000 - between),
  };
}
