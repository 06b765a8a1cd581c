import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Env } from '../config/env.js';
import { Database } from './database.js';

/** PGlite's counters begin anew with each start, and a laptop's service is started often. */
const LOOK_EVERY_MS = 600_000;
/** Autovacuum's own rule, for fewer tables: those where it brings something. */
const WORTH_IT = 'n_dead_tup > 1000 AND n_dead_tup > 0.2 * n_live_tup';

/**
 * PostgreSQL takes rows that were deleted or replaced out of its tables in the background, PGlite has no background:
 * without this a table would only ever grow, and nobody would count what is in it. A server does it by itself.
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
        this.logger.error({ err: error }, 'the embedded database could not be tidied up');
      });
    }
    return this.running;
  }

  /** One table at a time: while it is worked on, nothing else is (160 MB take 0.7 s). */
  private async vacuum(): Promise<void> {
    // What its connection has written is counted late otherwise.
    await this.database.direct.query('SELECT pg_stat_force_next_flush()');
    const tables = await this.database.direct.query<{ name: string }[]>(
      `SELECT relid::regclass::text AS name FROM pg_stat_user_tables
       WHERE schemaname = 'mcp' AND ${WORTH_IT}`,
    );
    for (const { name } of tables) await this.database.direct.query(`VACUUM (ANALYZE) ${name}`);
  }
}
