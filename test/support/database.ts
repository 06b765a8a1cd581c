import { DataSource } from 'typeorm';
import { Database } from '@app/platform';
import { dataSourceOptions } from '../../libs/platform/src/database/database.module.js';
import { EmbeddedDatabase } from '../../libs/platform/src/database/embedded-database.js';
import { migrate } from '../../libs/platform/src/database/migrations.js';
import { migrations } from '../../migrations/index.js';
import { temporaryFolder, testEnv } from './env.js';
import { createDatabase, type PostgresVersion, postgresVersions } from './postgres.js';

/** For specs of the whole service. */
export const engines = ['PGlite', 'PostgreSQL'] as const;
/** For specs of stores; Debian's PostgreSQL 15 where it is installed. */
export const allEngines: readonly Engine[] = ['PGlite', ...postgresVersions];
export type Engine = 'PGlite' | PostgresVersion;

/** A migrated database for store specs, without the service. */
export async function openDatabase(
  engine: Engine,
  entities: (new () => object)[] = [],
): Promise<{ database: Database; url: string; close: () => Promise<void> }> {
  const folder = await temporaryFolder();
  const embedded = new EmbeddedDatabase();
  const overrides: Record<string, string> =
    engine === 'PGlite'
      ? {}
      : {
          DATABASE_URL: await createDatabase({ version: engine }),
          MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
        };
  const dataSource = await new DataSource({
    ...dataSourceOptions(testEnv(folder.path, overrides), embedded, migrations),
    entities,
  }).initialize();
  await migrate(dataSource);
  return {
    database: new Database(dataSource),
    /** Empty with PGlite. */
    url: overrides['DATABASE_URL'] ?? '',
    close: async () => {
      await dataSource.destroy();
      await embedded.close();
      await folder.remove();
    },
  };
}
