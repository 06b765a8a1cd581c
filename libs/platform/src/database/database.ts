import { Inject, Injectable } from '@nestjs/common';
import {
  DataSource,
  type EntityManager,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import type { WorkKind } from './connections/connection-budget.js';
import { DatabaseUnavailable } from './failures/database.errors.js';
import { GuardedDataSource } from './guarded-data-source.js';
import { isDeadlock } from './failures/pg-errors.js';
import { StorageProbe } from './failures/storage-probe.js';

/** A transaction in progress, or the plain connection; stores take it so that one change is one transaction. */
export type Tx = EntityManager;

/** After this many consecutive deadlocks the cause is a bug. */
const MAX_ATTEMPTS = 5;

/** What is done once a transaction has committed. */
type AfterCommit = () => Promise<void>;

const afterCommits = new WeakMap<Tx, AfterCommit[]>();

/**
 * Access to PostgreSQL for handlers, which may open a transaction but contain no SQL. Queries wait for locks and
 * connections only as long as a request may; other kinds of work have connections and deadlines of their own.
 */
@Injectable()
export class Database {
  private readonly kinds = new Map<WorkKind, Database>();
  private storage: StorageProbe | undefined;
  private pinging: Promise<void> | undefined;

  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** For work that no request waits for, and for loading what may be large. */
  get background(): Database {
    return this.for('background');
  }

  /** For a request that changes as many rows as a server has tools. */
  get bulk(): Database {
    return this.for('bulk');
  }

  /** For the audit log, besides entries that belong to the transaction of a change. */
  get audit(): Database {
    return this.for('audit');
  }

  /** Outside a transaction. */
  get direct(): Tx {
    return this.dataSource.manager;
  }

  /**
   * Runs `work` in a transaction, and resolves when what was given to `afterCommit` has settled. After
   * `deadlock_detected` the transaction is retried, so `work` must do nothing but write rows.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      let after: AfterCommit[] = [];
      try {
        const done = await this.dataSource.transaction((tx) => {
          afterCommits.set(tx, (after = []));
          return work(tx);
        });
        await Promise.all(after.map((told) => told()));
        return done;
      } catch (error) {
        if (isConnectionGone(error)) throw new DatabaseUnavailable('unreachable', error);
        if (!isDeadlock(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Runs `then` after the transaction has committed, and resolves at once; outside of one it runs now, and is waited for.
   * It must neither throw nor reject.
   */
  async afterCommit(tx: Tx, then: AfterCommit): Promise<void> {
    const waiting = afterCommits.get(tx);
    if (waiting) waiting.push(then);
    else await then();
  }

  /**
   * Rejects with DatabaseUnavailable when rows cannot be read or written. Callers at the same moment share one answer,
   * because health is public and has one connection.
   */
  ping(): Promise<void> {
    return (this.pinging ??= this.checkRows().finally(() => {
      this.pinging = undefined;
    }));
  }

  /** The last write was refused, as by a full disk. */
  get refusesWrites(): boolean {
    return (
      this.dataSource instanceof GuardedDataSource && this.dataSource.writeTrouble !== undefined
    );
  }

  private async checkRows(): Promise<void> {
    const health = this.for('health');
    const rows = await health.direct.query<{ readOnly: string }[]>(
      `SELECT current_setting('transaction_read_only') AS "readOnly"`,
    );
    if (rows[0]?.readOnly === 'on') throw new DatabaseUnavailable('read-only');
    const trouble =
      this.dataSource instanceof GuardedDataSource ? this.dataSource.writeTrouble : undefined;
    if (trouble) await (this.storage ??= new StorageProbe(health.dataSource)).check(trouble);
  }

  private for(kind: WorkKind): Database {
    const known = this.kinds.get(kind);
    if (known) return known;
    const { dataSource } = this;
    const made =
      dataSource instanceof GuardedDataSource ? new Database(dataSource.for(kind)) : this;
    this.kinds.set(kind, made);
    return made;
  }
}

/** The connection broke between two statements of a transaction, which is rolled back. */
function isConnectionGone(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}
