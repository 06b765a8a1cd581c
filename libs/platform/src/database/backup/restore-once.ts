import { existsSync, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DataSource, type QueryRunner } from 'typeorm';
import { DataDirHold } from '../../data-folder/data-dir-hold.js';
import { AppError } from '../../errors/app-error.js';
import { refuseWhileInUse } from '../database-in-use.js';
import { type DatabaseEnv, dataSourceOptions } from '../database.module.js';
import { EmbeddedDatabase, embeddedFolder } from '../embedded-database.js';
import { DatabaseUnreachable } from '../failures/database.errors.js';
import {
  asMigrator,
  migrateWith,
  type MigrationClass,
  migrationNames,
  revertLastWith,
} from '../migrations.js';
import { type BackupHead, type BackupPart, readBackupFile, UnusableBackup } from './backup-file.js';
import { RestoreTarget } from './backup.store.js';

const STATEMENT_S = 3_600;
const MAX_ROWS = 500;
const MAX_CHARS = 8 * 1_048_576;

export interface Restored {
  readonly head: BackupHead;
  readonly tables: number;
  readonly rows: number;
  /** Where the former database is now: a folder, or a schema of PostgreSQL. */
  readonly former: string | undefined;
}

/** There is a database already; `--replace` is the consent to replace it. */
export class DatabaseNotEmpty extends AppError {
  constructor(where: string) {
    super(
      `There is a database of Switchboard already, ${where}. Restore into another folder or database, or replace this one with --replace.`,
      { kind: 'conflict', code: 'DATABASE_NOT_EMPTY' },
    );
  }
}

/** Another process took the folder while this one stood still. */
export class DataFolderLost extends AppError {
  constructor(reason: string) {
    super(`${reason}. Nothing is replaced; stop every replica, and restore again.`, {
      kind: 'conflict',
      code: 'DATA_FOLDER_LOST',
    });
  }
}

export interface RestoreOrder {
  readonly file: string;
  readonly mayReplace: boolean;
  /** Stands in the name of the former database. */
  readonly now: Date;
}

/**
 * For the command, while no service runs: makes the database that the settings name from a backup, of the embedded
 * database or of PostgreSQL. After a failure, also of this process, the former database is as it was.
 */
export async function restoreOnce(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  order: RestoreOrder,
): Promise<Restored> {
  return env.DATABASE_URL
    ? restorePostgres(env, migrations, order)
    : restoreEmbedded(env, migrations, order);
}

/** Filled beside the former one, which is moved away when the new one is whole. */
async function restoreEmbedded(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  { file, mayReplace, now }: RestoreOrder,
): Promise<Restored> {
  const hold = await DataDirHold.take(env.MCP_AGGREGATOR_DATA_DIR);
  const draft = join(env.MCP_AGGREGATOR_DATA_DIR, 'restoring');
  try {
    const folder = embeddedFolder(env.MCP_AGGREGATOR_DATA_DIR);
    if (existsSync(folder) && !mayReplace) throw new DatabaseNotEmpty(`in ${folder}`);
    // Of a run that was killed.
    await rm(draft, { recursive: true, force: true });
    const draftEnv = { ...env, MCP_AGGREGATOR_DATA_DIR: draft };
    const restored = await fillEmbedded(draftEnv, migrations, file);
    if (!hold.isHeld()) throw new DataFolderLost(hold.lost ?? 'The data folder is lost');
    return { ...restored, former: await putInPlace(embeddedFolder(draft), folder, now) };
  } finally {
    if (hold.isHeld()) await rm(draft, { recursive: true, force: true });
    hold.release();
  }
}

async function fillEmbedded(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  file: string,
): Promise<Omit<Restored, 'former'>> {
  mkdirSync(env.MCP_AGGREGATOR_DATA_DIR, { mode: 0o700 });
  const embedded = new EmbeddedDatabase();
  const dataSource = new DataSource(dataSourceOptions(env, embedded, migrations));
  try {
    await dataSource.initialize();
    return await inTransaction(dataSource, (runner) => fill(dataSource, runner, file));
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
    await embedded.close();
  }
}

/** Where the former folder is now, if there was one. */
async function putInPlace(made: string, folder: string, now: Date): Promise<string | undefined> {
  if (!existsSync(folder)) {
    await rename(made, folder);
    return undefined;
  }
  const former = `${folder}.before-restore-${timeInName(now, '-')}`;
  await rename(folder, former);
  try {
    await rename(made, folder);
  } catch (error) {
    await rename(former, folder);
    throw error;
  }
  return former;
}

async function restorePostgres(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  { file, mayReplace, now }: RestoreOrder,
): Promise<Restored> {
  const direct = {
    ...env,
    DATABASE_URL: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    // No request waits for it.
    MCP_AGGREGATOR_DATABASE_WAIT: STATEMENT_S,
    MCP_AGGREGATOR_DATABASE_TIMEOUT: STATEMENT_S,
  };
  const options = dataSourceOptions(direct, new EmbeddedDatabase(), migrations);
  const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
    throw new DatabaseUnreachable(direct.DATABASE_URL, error);
  });
  try {
    return await inTransaction(dataSource, async (runner) => {
      const isThere = await hasSchema(runner);
      if (isThere && !mayReplace) throw new DatabaseNotEmpty('the schema mcp of DATABASE_URL');
      const former = isThere ? await moveAway(runner, now) : undefined;
      return { ...(await fill(dataSource, runner, file)), former };
    });
  } finally {
    await dataSource.destroy();
  }
}

/** PostgreSQL takes all of it back after a failure, a kill or a lost connection. */
function inTransaction<T>(
  dataSource: DataSource,
  work: (runner: QueryRunner) => Promise<T>,
): Promise<T> {
  return asMigrator(dataSource, async (runner) => {
    await runner.startTransaction();
    try {
      const done = await work(runner);
      await runner.commitTransaction();
      return done;
    } catch (error) {
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  });
}

async function hasSchema({ manager }: QueryRunner): Promise<boolean> {
  const [row] = await manager.query<{ there: boolean }[]>(
    `SELECT to_regnamespace('mcp') IS NOT NULL AS there`,
  );
  return row?.there === true;
}

/** The former schema keeps its rows under another name. */
async function moveAway(runner: QueryRunner, now: Date): Promise<string> {
  await refuseWhileInUse(runner);
  const former = `mcp_before_restore_${timeInName(now, '_')}`;
  await runner.query(`ALTER SCHEMA mcp RENAME TO ${former}`);
  return `the schema ${former}`;
}

function timeInName(now: Date, separator: string): string {
  return now.toISOString().toLowerCase().replaceAll(/[-:.]/g, separator);
}

/** Into an empty database: the schema of the backup, its rows, then the newer migrations. */
async function fill(
  dataSource: DataSource,
  runner: QueryRunner,
  file: string,
): Promise<Omit<Restored, 'former'>> {
  const parts = readBackupFile(file);
  const first = (await parts.next()).value as BackupPart | undefined;
  if (first?.kind !== 'head') throw new UnusableBackup(file, 'it is no backup of Switchboard');
  const surplus = surplusMigrations(migrationNames(dataSource), first.head, file);
  await migrateWith(dataSource, runner);
  for (let count = 0; count < surplus; count++) await revertLastWith(dataSource, runner);
  const target = await RestoreTarget.empty(runner.manager);
  const loader = new Loader(target, file);
  for await (const part of parts) await loader.take(part);
  await loader.flush();
  await target.advanceSequences();
  await migrateWith(dataSource, runner);
  return { head: first.head, tables: loader.tables, rows: loader.rows };
}

/** How many of the newest migrations the database of the backup did not have. */
function surplusMigrations(known: readonly string[], head: BackupHead, file: string): number {
  if (head.migrations.some((name) => !known.includes(name))) {
    throw new UnusableBackup(
      file,
      `it was made by Switchboard ${head.version}, which is newer; restore it with that version or a later one`,
    );
  }
  const wanted = new Set(head.migrations);
  if (!known.slice(0, wanted.size).every((name) => wanted.has(name))) {
    throw new UnusableBackup(file, 'its migrations are not those of a release');
  }
  return known.length - wanted.size;
}

class Loader {
  tables = 0;
  rows = 0;
  private table: Extract<BackupPart, { kind: 'table' }> | undefined;
  private waiting: string[] = [];
  private chars = 0;

  constructor(
    private readonly target: RestoreTarget,
    private readonly file: string,
  ) {}

  async take(part: BackupPart): Promise<void> {
    if (part.kind === 'head') throw new UnusableBackup(this.file, 'it has two heads');
    if (part.kind === 'table') return this.begin(part);
    this.waiting.push(part.text);
    this.chars += part.text.length;
    if (this.waiting.length >= MAX_ROWS || this.chars >= MAX_CHARS) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.waiting.length === 0) return;
    if (!this.table) throw new UnusableBackup(this.file, 'it has rows of no table');
    await this.target.insert(this.table.table, this.table.columns, this.waiting);
    this.rows += this.waiting.length;
    this.waiting = [];
    this.chars = 0;
  }

  private async begin(part: Extract<BackupPart, { kind: 'table' }>): Promise<void> {
    await this.flush();
    if (!this.target.has(part.table, part.columns)) {
      throw new UnusableBackup(this.file, `this version has no table ${part.table} of that form`);
    }
    this.table = part;
    this.tables++;
  }
}
