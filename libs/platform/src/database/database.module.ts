import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Client } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Env } from '../config/env.js';
import { connectionBudget, connectionsOf } from './connections/connection-budget.js';
import { DatabaseUnreachable } from './failures/database.errors.js';
import { Database } from './database.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { GuardedDataSource, type GuardedOptions } from './guarded-data-source.js';
import { migrate, type MigrationClass, refuseOtherSchema } from './migrations.js';
import { ControlConnection } from '../cluster/control-connection.js';
import { Bystander } from './bystander.js';
import { Leadership } from '../cluster/leadership.js';
import { ClusterKeys } from '../cluster/cluster-keys.js';
import { Passes } from '../cluster/passes.js';
import { PassingOn } from '../cluster/passing-on.js';
import { PeerPulse } from '../cluster/peer-pulse.js';
import { PeerRequests } from '../cluster/peer-requests.js';
import { Peers } from '../cluster/peers.js';
import { BehindPooler, isPooledByTransaction } from '../cluster/pooler.js';
import { Replicas } from '../cluster/replicas.js';
import { slowStatements } from '../tracing/slow-statements.js';
import { Tracing } from '../tracing/tracing.js';
import { Backup } from './backup/backup.js';
import { RowWatches } from './row-watches.js';
import { SettingsStore } from './settings.store.js';
import { VacuumEmbeddedDatabaseJob } from './vacuum-embedded-database.job.js';

/** PostgreSQL by DATABASE_URL, else PGlite in the data folder: same migrations, same SQL. */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EmbeddedDatabase) private readonly embedded: EmbeddedDatabase,
  ) {}

  /** `command`: beside a running service, whose database it neither migrates nor leads on. */
  static forRoot(
    migrations: readonly MigrationClass[],
    use: 'service' | 'command' = 'service',
  ): DynamicModule {
    const embedded = new EmbeddedDatabase();
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Env, Tracing],
          useFactory: async (env: Env, tracing: Tracing) => {
            if (!env.DATABASE_URL) await embedded.hold(env.MCP_AGGREGATOR_DATA_DIR);
            const { guard, ...options } = dataSourceOptions(env, embedded, migrations);
            return {
              ...options,
              guard: { ...guard, slow: slowStatements(tracing) },
              autoLoadEntities: true,
              retryAttempts: 0,
            };
          },
          dataSourceFactory: async (options) => {
            const guarded = options as GuardedOptions;
            const dataSource = await connect(guarded);
            if (use === 'service') await migrateDirectly(dataSource, guarded);
            else await refuseOtherSchema(dataSource);
            return dataSource;
          },
        }),
      ],
      providers: [
        Database,
        ControlConnection,
        ClusterKeys,
        Peers,
        PeerPulse,
        PeerRequests,
        Passes,
        PassingOn,
        use === 'service' ? Leadership : { provide: Leadership, useClass: Bystander },
        Replicas,
        RowWatches,
        SettingsStore,
        Backup,
        VacuumEmbeddedDatabaseJob,
        { provide: EmbeddedDatabase, useValue: embedded },
      ],
      exports: [
        Database,
        EmbeddedDatabase,
        ClusterKeys,
        Peers,
        PeerPulse,
        PeerRequests,
        Passes,
        PassingOn,
        Leadership,
        Replicas,
        RowWatches,
        SettingsStore,
        Backup,
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
    await this.embedded.close();
  }
}

async function connect(options: GuardedOptions): Promise<GuardedDataSource> {
  const dataSource = new GuardedDataSource(options);
  try {
    await dataSource.initialize();
    return dataSource;
  } catch (error) {
    throw new DatabaseUnreachable('url' in options ? options.url : undefined, error);
  }
}

/** Migrations hold a session lock, which does not work through a pooler in transaction mode. */
async function migrateDirectly(
  dataSource: DataSource,
  { guard, ...options }: GuardedOptions,
): Promise<void> {
  if (!('url' in options) || !options.url) return void (await migrate(dataSource));
  const { directUrl } = guard;
  if (await isPooledByTransaction(directUrl ?? options.url)) {
    throw new BehindPooler(directUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL');
  }
  if (!directUrl) return void (await migrate(dataSource));
  const direct = await connect({ ...options, guard, url: directUrl } as GuardedOptions);
  try {
    await migrate(direct);
  } finally {
    await direct.destroy();
  }
}

/** The embedded database has one connection for all work; waiting longer than this for it is a bug. */
const EMBEDDED_WAIT_MS = 30_000;
const CONNECT_WITHIN_MS = 10_000;
/** Longer than from one comparison with the rows to the next: opening a connection costs more than keeping it. */
const IDLE_CONNECTION_MS = 20_000;
/** The wait of a request for a connection ends this much earlier than the attempt to open one. */
const GRACE_MS = 1_000;

export type DatabaseEnv = Pick<
  Env,
  | 'DATABASE_URL'
  | 'DATABASE_DIRECT_URL'
  | 'MCP_AGGREGATOR_DATA_DIR'
  | 'MCP_AGGREGATOR_DATABASE_TIMEOUT'
  | 'MCP_AGGREGATOR_DATABASE_WAIT'
  | 'MCP_AGGREGATOR_DATABASE_CONNECTIONS'
>;

export function dataSourceOptions(
  env: DatabaseEnv,
  embedded: EmbeddedDatabase,
  migrations: readonly MigrationClass[],
): GuardedOptions {
  const timeoutMs = Math.ceil(env.MCP_AGGREGATOR_DATABASE_TIMEOUT * 1_000);
  const waitMs = Math.ceil(env.MCP_AGGREGATOR_DATABASE_WAIT * 1_000);
  const connections = env.MCP_AGGREGATOR_DATABASE_CONNECTIONS;
  const shared = {
    type: 'postgres' as const,
    schema: 'mcp',
    migrations: [...migrations],
    logging: false,
  } satisfies DataSourceOptions;
  if (env.DATABASE_URL) {
    const budget = connectionBudget(connections, waitMs, timeoutMs);
    const directUrl = env.DATABASE_DIRECT_URL;
    const { statementMs } = budget.kinds.requests;
    return {
      ...shared,
      guard: { budget, isRemote: true, directUrl },
      url: env.DATABASE_URL,
      applicationName: 'switchboard',
      connectTimeoutMS: Math.min(CONNECT_WITHIN_MS, budget.kinds.requests.waitMs + GRACE_MS),
      poolSize: connectionsOf(budget),
      extra: {
        keepAlive: true,
        idleTimeoutMillis: IDLE_CONNECTION_MS,
        // A pooler would set it for the next client of the same connection.
        ...(!directUrl && { onConnect: (client: Client) => setDeadlines(client, statementMs) }),
      },
    };
  }
  const patientMs = Math.max(EMBEDDED_WAIT_MS, timeoutMs);
  return {
    ...shared,
    guard: { budget: connectionBudget(connections, patientMs, patientMs), isRemote: false },
    extra: Object.assign(embedded.open(env.MCP_AGGREGATOR_DATA_DIR), {
      max: 1,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: EMBEDDED_WAIT_MS,
    }),
  };
}

/**
 * Server-side timeouts, so that a statement or transaction abandoned by this process holds no locks. Set by SET,
 * because connection poolers reject unknown startup parameters.
 */
async function setDeadlines(client: Client, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => void client.end().catch(() => undefined), timeoutMs).unref();
  try {
    await client.query(
      `SET statement_timeout = ${timeoutMs}; SET idle_in_transaction_session_timeout = ${timeoutMs * 2}`,
    );
  } finally {
    clearTimeout(timer);
  }
}
