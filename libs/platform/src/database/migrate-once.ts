import { chmodSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DataSource } from 'typeorm';
import { refuseWhileInUse } from './database-in-use.js';
import type { Database } from './database.js';
import { type DatabaseEnv, dataSourceOptions } from './database.module.js';
import { EmbeddedDatabase, embeddedFolder, foldersOfTemplate } from './embedded-database.js';
import { asMigrator, migrate, type MigrationClass, revertLastWith } from './migrations.js';
import { openOnce } from './open-once.js';

/** For the build: writes a migrated embedded database that a first start copies. */
export async function makeDatabaseTemplate(
  folder: string,
  migrations: readonly MigrationClass[],
): Promise<void> {
  const draft = `${folder}.new`;
  const env = {
    DATABASE_URL: undefined,
    DATABASE_DIRECT_URL: undefined,
    MCP_AGGREGATOR_DATA_DIR: draft,
    MCP_AGGREGATOR_DATABASE_TIMEOUT: 60,
    MCP_AGGREGATOR_DATABASE_WAIT: 60,
    MCP_AGGREGATOR_DATABASE_CONNECTIONS: 14,
  };
  await migrateOnce(env, migrations, 'run');
  await openOnce(env, [], emptyLog);
  makeReadable(embeddedFolder(draft));
  writeFileSync(foldersOfTemplate(folder), JSON.stringify(foldersIn(embeddedFolder(draft))));
  renameSync(embeddedFolder(draft), folder);
  rmSync(draft, { recursive: true });
}

/** The write-ahead log of the migrations is needed no more; its segment would be two megabytes of a package. */
async function emptyLog({ direct }: Database): Promise<void> {
  await direct.query('SET wal_recycle = off');
  await direct.query('SELECT pg_switch_wal()');
  await direct.query('CHECKPOINT');
}

/** The service often runs as another user than the build, as in the Docker image. */
function makeReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else chmodSync(path, 0o644);
  }
}

/** Relative paths. */
function foldersIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** For the commands: applies all migrations, or reverts one while no service runs; returns their names. */
export async function migrateOnce(
  env: DatabaseEnv,
  migrations: readonly MigrationClass[],
  direction: 'run' | 'revert',
): Promise<string[]> {
  const embedded = new EmbeddedDatabase();
  if (!env.DATABASE_URL) await embedded.hold(env.MCP_AGGREGATOR_DATA_DIR);
  const dataSource = await new DataSource(
    dataSourceOptions(
      { ...env, DATABASE_URL: env.DATABASE_DIRECT_URL ?? env.DATABASE_URL },
      embedded,
      migrations,
    ),
  ).initialize();
  try {
    if (direction === 'run') return await migrate(dataSource);
    const reverted = await asMigrator(dataSource, async (runner) => {
      if (env.DATABASE_URL) await refuseWhileInUse(runner);
      return revertLastWith(dataSource, runner);
    });
    return reverted === undefined ? [] : [reverted];
  } finally {
    await dataSource.destroy();
    await embedded.close();
  }
}
