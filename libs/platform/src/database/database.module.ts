import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Env } from '../config/env.js';
import { DatabaseUnreachable } from './database.errors.js';
import { Database } from './database.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { migrate, type MigrationClass } from './migrations.js';
import { Replicas } from './replicas.js';
import { VacuumEmbeddedDatabaseJob } from './vacuum-embedded-database.job.js';

/** PostgreSQL by DATABASE_URL, else PGlite in the data folder: same migrations, same SQL. */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EmbeddedDatabase) private readonly embedded: EmbeddedDatabase,
  ) {}

  static forRoot(migrations: readonly MigrationClass[]): DynamicModule {
    const embedded = new EmbeddedDatabase();
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Env],
          useFactory: (env: Env) => ({
            ...dataSourceOptions(env, embedded, migrations),
            autoLoadEntities: true,
            retryAttempts: 0,
          }),
          dataSourceFactory: async (options) => {
            const dataSource = await connect(options as DataSourceOptions);
            await migrate(dataSource);
            return dataSource;
          },
        }),
      ],
      providers: [
        Database,
        Replicas,
        VacuumEmbeddedDatabaseJob,
        { provide: EmbeddedDatabase, useValue: embedded },
      ],
      exports: [Database, Replicas],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
    await this.embedded.close();
  }
}

async function connect(options: DataSourceOptions): Promise<DataSource> {
  try {
    return await new DataSource(options).initialize();
  } catch (error) {
    throw new DatabaseUnreachable('url' in options ? options.url : undefined, error);
  }
}

/** The pool of the embedded database has one connection; waiting longer than this for it is a bug of ours. */
const EMBEDDED_WAIT_MS = 30_000;

export function dataSourceOptions(
  env: Pick<Env, 'DATABASE_URL' | 'MCP_AGGREGATOR_DATA_DIR'>,
  embedded: EmbeddedDatabase,
  migrations: readonly MigrationClass[],
): DataSourceOptions {
  const shared = {
    type: 'postgres' as const,
    schema: 'mcp',
    migrations: [...migrations],
    logging: false,
  } satisfies DataSourceOptions;
  if (env.DATABASE_URL) {
    return {
      ...shared,
      url: env.DATABASE_URL,
      applicationName: 'switchboard',
      connectTimeoutMS: 10_000,
    };
  }
  return {
    ...shared,
    extra: Object.assign(embedded.open(env.MCP_AGGREGATOR_DATA_DIR), {
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: EMBEDDED_WAIT_MS,
    }),
  };
}
