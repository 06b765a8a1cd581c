import { renameSync, rmSync } from 'node:fs';
import { DataSource } from 'typeorm';
import type { Env } from '../config/env.js';
import { dataSourceOptions } from './database.module.js';
import { holdDataDir } from './data-dir.js';
import { EmbeddedDatabase, embeddedFolder } from './embedded-database.js';
import { migrate, type MigrationClass, revertLast } from './migrations.js';

/** For the build: the embedded database as a first start needs it, in a folder to be copied. */
export async function makeDatabaseTemplate(
  folder: string,
  migrations: readonly MigrationClass[],
): Promise<void> {
  const draft = `${folder}.new`;
  const env = { DATABASE_URL: undefined, MCP_AGGREGATOR_DATA_DIR: draft };
  await migrateOnce(env, migrations, 'run');
  renameSync(embeddedFolder(draft), folder);
  rmSync(draft, { recursive: true });
}

/** For the commands: without the service, forwards all the way or back by one; the names of what ran. */
export async function migrateOnce(
  env: Pick<Env, 'DATABASE_URL' | 'MCP_AGGREGATOR_DATA_DIR'>,
  migrations: readonly MigrationClass[],
  direction: 'run' | 'revert',
): Promise<string[]> {
  const hold = await holdDataDir(env.MCP_AGGREGATOR_DATA_DIR);
  const embedded = new EmbeddedDatabase();
  const dataSource = await new DataSource(
    dataSourceOptions(env, embedded, migrations),
  ).initialize();
  try {
    if (direction === 'run') return await migrate(dataSource);
    const reverted = await revertLast(dataSource);
    return reverted ? [reverted] : [];
  } finally {
    await dataSource.destroy();
    await embedded.close();
    hold.close();
  }
}
