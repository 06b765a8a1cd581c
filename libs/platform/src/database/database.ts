import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ExclusiveLock } from './exclusive-lock.js';
import { isDeadlock } from './pg-errors.js';

/** A transaction in progress, or the plain connection; stores take it so that one change is one transaction. */
export type Tx = EntityManager;

/** Deadlocks in a row are a bug of ours, not bad luck. */
const MAX_ATTEMPTS = 5;

/** The door to PostgreSQL for handlers, which may open a transaction but know no SQL. */
@Injectable()
export class Database {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Outside a transaction. */
  get direct(): Tx {
    return this.dataSource.manager;
  }

  /**
   * All of `work` or nothing. PostgreSQL ends one of two transactions that wait for each other; that
   * one is run again, so `work` must do nothing but write rows.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.dataSource.transaction(work);
      } catch (error) {
        if (!isDeadlock(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Among all processes on this database. Not for the embedded one: its only connection would be taken. */
  exclusiveLock(key: number): ExclusiveLock {
    return new ExclusiveLock(this.dataSource, key);
  }

  /**
   * Differs from what it was when rows of the table were written in between: PostgreSQL counts them, so nobody has
   * to read a large table to learn that nothing happened. What was just written may be counted a minute later.
   */
  async writesTo(table: string): Promise<string> {
    const rows = await this.direct.query<{ writes: string }[]>(
      `SELECT CASE WHEN current_setting('track_counts')::boolean
         THEN concat_ws(' ', pg_stat_get_tuples_inserted(id), pg_stat_get_tuples_updated(id), pg_stat_get_tuples_deleted(id))
         ELSE clock_timestamp()::text END AS writes
       FROM (SELECT $1::regclass::oid AS id) AS named`,
      [table],
    );
    return rows[0]?.writes ?? '';
  }

  /** Throws when the database does not answer. */
  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }
}
