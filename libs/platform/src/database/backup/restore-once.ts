import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { DataSource } from 'typeorm';
import { AppError } from '../../errors/app-error.js';
import { type DatabaseEnv, dataSourceOptions } from '../database.module.js';
import { EmbeddedDatabase, embeddedFolder } from '../embedded-database.js';
import { migrate, type MigrationClass, revertLast } from '../migrations.js';
import { type BackupHead, type BackupPart, readBackupFile, UnusableBackup } from './backup-file.js';
import { RestoreTarget } from './backup.store.js';

const STATEMENT_S = 3_600;
const MAX_ROWS = 500;
const MAX_CHARS = 8 * 1_048_576;

export interface Restored {
  readonly head: BackupHead;
  readonly tables: number;
  readonly rows: number;
  /** Where the former embedded database lies now. */
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

/** Processes that would write between the rows of the backup. */
export class DatabaseInUse extends AppError {
  constructor(addresses: readonly string[]) {
    super(
      `Switchboard runs on this database (${addresses.join(', ')}). Stop every replica, and restore again.`,
      { kind: 'conflict', code: 'DATABASE_IN_USE' },
    );
  }
}

/**
 * For the command, while no service runs: makes the database that the settings name from a backup, of the embedded
 * database or of PostgreSQL. All or nothing: after a failure there is no database, or the former one.
 */
export async function restoreOnce(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  file: string,
  mayReplace: boolean,
): Promise<Restored> {
  return env.DATABASE_URL
    ? restorePostgres(env, migrations, file, mayReplace)
    : restoreEmbedded(env, migrations, file, mayReplace);
}

async function restoreEmbedded(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  file: string,
  mayReplace: boolean,
): Promise<Restored> {
  const embedded = new EmbeddedDatabase();
  await embedded.hold(env.MCP_AGGREGATOR_DATA_DIR);
  const folder = embeddedFolder(env.MCP_AGGREGATOR_DATA_DIR);
  let former: string | undefined;
  try {
    if (existsSync(folder)) {
      if (!mayReplace) throw new DatabaseNotEmpty(`in ${folder}`);
      former = `${folder}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
      await rename(folder, former);
    }
    const dataSource = await new DataSource(
      dataSourceOptions(env, embedded, migrations),
    ).initialize();
    try {
      const restored = await fill(dataSource, file);
      return { ...restored, former };
    } finally {
      await dataSource.destroy();
      await embedded.close();
    }
  } catch (error) {
    if (error instanceof DatabaseNotEmpty) throw error;
    await rm(folder, { recursive: true, force: true });
    if (former !== undefined) await rename(former, folder);
    throw error;
  } finally {
    await embedded.close();
  }
}

async function restorePostgres(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  file: string,
  mayReplace: boolean,
): Promise<Restored> {
  const direct = {
    ...env,
    DATABASE_URL: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL,
    // No request waits for it.
    MCP_AGGREGATOR_DATABASE_WAIT: STATEMENT_S,
    MCP_AGGREGATOR_DATABASE_TIMEOUT: STATEMENT_S,
  };
  const dataSource = await new DataSource(
    dataSourceOptions(direct, new EmbeddedDatabase(), migrations),
  ).initialize();
  try {
    if (await hasSchema(dataSource)) {
      if (!mayReplace) throw new DatabaseNotEmpty('the schema mcp of DATABASE_URL');
      await refuseWhileInUse(dataSource);
      // Read to its end first, because the former rows are gone then.
      for await (const _part of readBackupFile(file));
      await dataSource.query('DROP SCHEMA mcp CASCADE');
    }
    const restored = await fill(dataSource, file).catch(async (error: unknown) => {
      await dataSource.query('DROP SCHEMA IF EXISTS mcp CASCADE');
      throw error;
    });
    return { ...restored, former: undefined };
  } finally {
    await dataSource.destroy();
  }
}

async function hasSchema(dataSource: DataSource): Promise<boolean> {
  const [row] = await dataSource.query<{ there: boolean }[]>(
    `SELECT to_regnamespace('mcp') IS NOT NULL AS there`,
  );
  return row?.there === true;
}

async function refuseWhileInUse(dataSource: DataSource): Promise<void> {
  const others = await dataSource.query<{ address: string }[]>(
    `SELECT DISTINCT coalesce(host(client_addr), 'this machine') AS address FROM pg_stat_activity
     WHERE application_name = 'switchboard' AND datname = current_database()
       AND client_port IS DISTINCT FROM (SELECT client_port FROM pg_stat_activity WHERE pid = pg_backend_pid())`,
  );
  if (others.length > 0) throw new DatabaseInUse(others.map(({ address }) => address));
}

/** Into an empty database: the schema of the backup, its rows, then the newer migrations. */
async function fill(dataSource: DataSource, file: string): Promise<Omit<Restored, 'former'>> {
  const parts = readBackupFile(file);
  const first = (await parts.next()).value as BackupPart | undefined;
  if (first?.kind !== 'head') throw new UnusableBackup(file, 'it is no backup of Switchboard');
  await migrate(dataSource);
  await revertTo(dataSource, first.head, file);
  const counts = await dataSource.transaction(async (tx) => {
    const target = await RestoreTarget.empty(tx);
    const loader = new Loader(target, file);
    for await (const part of parts) await loader.take(part);
    await loader.flush();
    await target.advanceSequences();
    return { tables: loader.tables, rows: loader.rows };
  });
  await migrate(dataSource);
  return { head: first.head, ...counts };
}

async function revertTo(dataSource: DataSource, head: BackupHead, file: string): Promise<void> {
  const known = new Set(dataSource.migrations.map((one) => one.name ?? one.constructor.name));
  const unknown = head.migrations.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new UnusableBackup(
      file,
      `it was made by Switchboard ${head.version}, which is newer; restore it with that version or a later one`,
    );
  }
  const wanted = new Set(head.migrations);
  const surplus = [...known].filter((name) => !wanted.has(name)).length;
  for (let count = 0; count < surplus; count++) {
    const reverted = await revertLast(dataSource);
    if (reverted === undefined || wanted.has(reverted)) {
      throw new UnusableBackup(file, 'its migrations are not those of a release');
    }
  }
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
