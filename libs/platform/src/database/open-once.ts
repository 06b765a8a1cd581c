import { existsSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { AppError } from '../errors/app-error.js';
import { Database } from './database.js';
import { type DatabaseEnv, dataSourceOptions } from './database.module.js';
import { EmbeddedDatabase, embeddedFolder } from './embedded-database.js';
import { DatabaseUnreachable } from './failures/database.errors.js';

export class NoDatabase extends AppError {
  constructor(folder: string) {
    super(
      `There is no embedded database in ${folder}. Set MCP_AGGREGATOR_DATA_DIR or DATABASE_URL.`,
      { kind: 'not-found', code: 'NO_DATABASE' },
    );
  }
}

/** For commands, without a running service: the database as it is; nothing is created or migrated. */
export async function openOnce<T>(
  env: DatabaseEnv,
  entities: readonly (new () => object)[],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const embedded = new EmbeddedDatabase();
  if (!env.DATABASE_URL) {
    const folder = embeddedFolder(env.MCP_AGGREGATOR_DATA_DIR);
    if (!existsSync(folder)) throw new NoDatabase(folder);
    await embedded.hold(env.MCP_AGGREGATOR_DATA_DIR);
  }
  try {
    const options = { ...dataSourceOptions(env, embedded, []), entities: [...entities] };
    const dataSource = await new DataSource(options).initialize().catch((error: unknown) => {
      throw new DatabaseUnreachable(env.DATABASE_URL, error);
    });
    try {
      return await work(new Database(dataSource));
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await embedded.close();
  }
}
