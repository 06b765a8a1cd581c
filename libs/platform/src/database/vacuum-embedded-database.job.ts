import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Env } from '../config/env.js';
import { Database } from './database.js';

/** PGlite's counters restart from zero with each start, and the service on a laptop is restarted often. */
const LOOK_EVERY_MS = 600_000;
/** Autovacuum's own threshold, for the tables where vacuuming pays. */
const WORTH_IT = 'n_dead_tup > 1000 AND n_dead_tup > 0.2 * n_live_tup';
/** An append-only table has no dead rows, but without statistics the planner takes it for a small one. */
const UNKNOWN = 'n_mod_since_analyze > 10000 AND n_mod_since_analyze > 0.1 * n_live_tup';

/**
 * PostgreSQL vacuums tables in the background; PGlite has no background processes. Without this job tables only grow
 * and have no statistics. Not needed on a PostgreSQL server, which has autovacuum.
 */
@Injectable()
export class VacuumEmbeddedDatabaseJob implements BeforeApplicationShutdown {
  private readonly logger = new Logger('platform');
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The database closes after this. */
  beforeApplicationShutdown(): Promise<void> {
    return this.running;
  }

  @Interval(LOOK_EVERY_MS)
  start(): Promise<void> {
    if (!this.env.DATABASE_URL) {
      this.running = this.vacuum().catch((error: unknown) => {
        this.logger.error({ err: error }, 'database.vacuum_failed');
      });
    }
    return this.running;
  }

  /** One table at a time, because vacuuming blocks everything else (160 MB take 0.7 s). */
  private async vacuum(): Promise<void> {
    // Otherwise its connection reports its writes late.
    await this.database.direct.query('SELECT pg_stat_force_next_flush()');
    const tables = await this.database.direct.query<{ name: string; isDirty: boolean }[]>(
      `SELECT relid::regclass::text AS name, ${WORTH_IT} AS "isDirty" FROM pg_stat_user_tables
       WHERE schemaname = 'mcp' AND (${WORTH_IT} OR ${UNKNOWN})`,
    );
    for (const { name, isDirty } of tables) {
      await this.database.direct.query(`${isDirty ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${name}`);
    }
  }
}
