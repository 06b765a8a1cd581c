import { Logger } from '@nestjs/common';
import {
  type DataSource,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { AppError } from '../errors/app-error.js';
import { GuardedDataSource } from './guarded-data-source.js';

/**
 * `isCompatible`: the code before this migration works with it, so that replicas of both versions may run at the same
 * time.
 */
export type MigrationClass = new () => MigrationInterface & { readonly isCompatible?: boolean };

/** The database has an incompatible migration of a newer version. */
export class SchemaTooNew extends AppError {
  constructor(names: readonly string[]) {
    super(
      `The database was migrated by a newer version of Switchboard (${names.join(', ')}). Start that version or a later one, or restore the backup from before the upgrade.`,
      { kind: 'unavailable', code: 'SCHEMA_TOO_NEW' },
    );
  }
}

/** The database lacks migrations of this version, and a command does not apply them. */
export class SchemaTooOld extends AppError {
  constructor(names: readonly string[]) {
    super(
      `The database lacks migrations of this version of Switchboard (${names.join(', ')}). Start this version, or run "switchboard migrate", and try again.`,
      { kind: 'unavailable', code: 'SCHEMA_TOO_OLD' },
    );
  }
}

/**
 * Advisory lock id, an arbitrary number shared by all replicas: the holder migrates, the others wait and find nothing
 * pending.
 */
const MIGRATION_LOCK = 7_202_611;

/**
 * Applies pending migrations in one transaction, so that a failing one leaves nothing behind. Throws SchemaTooNew when
 * the database has unknown migrations, unless they are marked as compatible.
 */
export function migrate(dataSource: DataSource): Promise<string[]> {
  return asMigrator(dataSource, (runner) => migrateWith(dataSource, runner));
}

/** On the connection of `asMigrator`, within its transaction if it has begun one. */
export async function migrateWith(dataSource: DataSource, runner: QueryRunner): Promise<string[]> {
  const executor = await executorOn(dataSource, runner);
  await refuseNewer(dataSource, executor, runner);
  const done = await executor.executePendingMigrations();
  const compatible = done.filter(
    ({ instance }) => instance && 'isCompatible' in instance && instance.isCompatible,
  );
  if (compatible.length > 0) {
    await runner.query(
      `INSERT INTO mcp.compatible_migrations (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
      [compatible.map(({ name }) => name)],
    );
  }
  return done.map(({ name }) => name);
}

async function refuseNewer(
  dataSource: DataSource,
  executor: MigrationExecutor,
  runner: QueryRunner,
): Promise<void> {
  const names = new Set(migrationNames(dataSource));
  const executed = (await executor.getExecutedMigrations()).map(({ name }) => name);
  const unknown = executed.filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  const compatible = (await runner.query(
    `SELECT name FROM mcp.compatible_migrations WHERE name = ANY($1)`,
    [unknown],
  )) as { name: string }[];
  const refused = unknown.filter((name) => !compatible.some((one) => one.name === name));
  if (refused.length > 0) throw new SchemaTooNew(refused);
}

/** Reverts the newest migration; its name, or undefined when there is none. */
export function revertLast(dataSource: DataSource): Promise<string | undefined> {
  return asMigrator(dataSource, (runner) => revertLastWith(dataSource, runner));
}

/** As `migrateWith`. */
export async function revertLastWith(
  dataSource: DataSource,
  runner: QueryRunner,
): Promise<string | undefined> {
  const executor = await executorOn(dataSource, runner);
  const [newest] = await executor.getExecutedMigrations();
  if (newest) await executor.undoLastMigration();
  return newest?.name;
}

/** For a command beside a running service, whose version it has to be. Throws SchemaTooOld or SchemaTooNew. */
export async function refuseOtherSchema(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<{ there: boolean }[]>(
    `SELECT to_regclass('mcp.migrations') IS NOT NULL AS there`,
  );
  const executed = row?.there
    ? await dataSource.query<{ name: string }[]>('SELECT name FROM mcp.migrations')
    : [];
  const names = migrationNames(dataSource);
  const missing = names.filter((name) => !executed.some((one) => one.name === name));
  if (missing.length > 0) throw new SchemaTooOld(missing);
  const unknown = executed.map(({ name }) => name).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new SchemaTooNew(unknown);
}

/** Digits of the time at the end of the name of a migration. */
const TIME_DIGITS = 13;

/** Of all migrations of this version, in the order in which they are applied. */
export function migrationNames({ migrations }: DataSource): readonly string[] {
  const timeOf = (name: string): number => Number(name.slice(-TIME_DIGITS));
  return migrations
    .map((one) => one.name ?? one.constructor.name)
    .toSorted((one, other) => timeOf(one) - timeOf(other));
}

async function executorOn(dataSource: DataSource, runner: QueryRunner): Promise<MigrationExecutor> {
  await runner.query('CREATE SCHEMA IF NOT EXISTS mcp');
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'all';
  return executor;
}

/** Lifts the statement timeout, because an index on a large table takes long to build; restored afterwards. */
async function withoutDeadline(runner: QueryRunner): Promise<string> {
  const rows = (await runner.query(
    `SELECT current_setting('statement_timeout') AS before, set_config('statement_timeout', '0', false)`,
  )) as { before: string }[];
  return rows[0]?.before ?? '0';
}

/** `work` has a connection without a statement timeout, and no other process migrates the database meanwhile. */
export async function asMigrator<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
): Promise<T> {
  const runner: QueryRunner =
    dataSource instanceof GuardedDataSource
      ? dataSource.createPatientRunner()
      : dataSource.createQueryRunner();
  const deadline = await withoutDeadline(runner);
  try {
    await lock(runner);
    return await work(runner);
  } finally {
    // Fails with the connection, which then has neither.
    await runner
      .query(
        `SELECT pg_advisory_unlock(${MIGRATION_LOCK}), set_config('statement_timeout', $1, false)`,
        [deadline],
      )
      .catch(() => undefined);
    await runner.release();
  }
}

/** Waits as long as another process migrates, and logs which one. */
async function lock(runner: QueryRunner): Promise<void> {
  const [row] = (await runner.query('SELECT pg_try_advisory_lock($1) AS held', [
    MIGRATION_LOCK,
  ])) as { held: boolean }[];
  if (row?.held) return;
  const holders = (await runner.query(
    `SELECT pid, application_name, host(client_addr) AS address, backend_start
     FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = $1 AND database =
       (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [MIGRATION_LOCK],
  )) as object[];
  new Logger('Migrations').warn({ holder: holders[0] }, 'migrations.waiting_for_lock');
  await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
}
