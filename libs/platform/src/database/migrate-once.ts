import { DataSource } from 'typeorm';
import type { Env } from '../config/env.js';
import { dataSourceOptions } from './database.module.js';
import { holdDataDir } from './data-dir.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { migrate, type MigrationClass, revertLast } from './migrations.js';

/** For the commands: without the service, forwards all the way or back by one; the names of what ran. */
export async function migrateOnce(
  env: Env,
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
