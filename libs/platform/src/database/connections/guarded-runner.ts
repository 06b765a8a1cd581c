import type { Client } from 'pg';
import type { QueryRunner } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseUnavailable } from '../failures/database.errors.js';
import { troubleOf } from '../failures/pg-errors.js';
import type { WorkLimits } from './connection-budget.js';
import type { ConnectionShare } from './connection-share.js';

const BEGIN = 'START TRANSACTION';
/** PostgreSQL cancels a statement at its timeout; if that fails, its connection is closed this much later. */
const GRACE_MS = 1_000;
/** Retry interval while PostgreSQL has no connection left. */
const TRY_AGAIN_MS = 50;

export interface RunnerGuard {
  readonly limits: WorkLimits;
  /** Undefined with the embedded database, which has one connection. */
  readonly share: ConnectionShare | undefined;
  /** The timeouts are set on the connection, so a statement outside a transaction need not set them. */
  readonly areLimitsSet: boolean;
  refuseWhileUnreachable(): void;
  /** Connects, and records whether the database can be reached. */
  reach<T>(connect: () => Promise<T>): Promise<T>;
  translated(error: unknown, isSentWrite: boolean): unknown;
  noteWrite(): void;
  /** Undefined when nothing is traced. */
  readonly slow: SlowStatements | undefined;
}

/** Times are those of `performance.now()`. */
export interface SlowStatements {
  readonly fromMs: number;
  note(sql: string, table: string | undefined, startedAt: number): void;
}

/**
 * Limits every query of a runner to a deadline, and the runner to a connection of its share, which it requests at the
 * first statement of a transaction.
 */
export function guardRunner(runner: QueryRunner, guard: RunnerGuard): QueryRunner {
  const { query, release } = new GuardedRunner(runner, guard);
  return Object.assign(runner, { query, release });
}

class GuardedRunner {
  private readonly runOn: (
    sql: string,
    parameters?: unknown[],
    isStructured?: true,
  ) => Promise<unknown>;
  private readonly giveBack: () => Promise<void>;
  private entered: Promise<() => void> | undefined;
  private connecting: Promise<Client> | undefined;
  private isConnected = false;
  private hasToBegin = false;
  private begun: Promise<unknown> | undefined;

  constructor(
    private readonly runner: QueryRunner,
    private readonly guard: RunnerGuard,
  ) {
    this.runOn = runner.query.bind(runner);
    this.giveBack = runner.release.bind(runner);
  }

  readonly query = async (
    sql: string,
    parameters?: unknown[],
    isStructured?: boolean,
  ): Promise<unknown> => {
    if (this.isOnlyNoted(sql)) return undefined;
    const isWrite = writes(sql, this.runner);
    const { slow } = this.guard;
    const startedAt = slow ? performance.now() : 0;
    let isSent = false;
    try {
      const client = await this.connected(sql);
      isSent = !this.runner.isReleased;
      const run = (): Promise<unknown> =>
        isStructured ? this.runOn(sql, parameters, true) : this.runOn(sql, parameters);
      const result = await this.run(run, client);
      if (isWrite) this.guard.noteWrite();
      return result;
    } catch (error) {
      throw this.guard.translated(error, isWrite && isSent);
    } finally {
      if (slow && performance.now() - startedAt >= slow.fromMs) {
        slow.note(sql, tableIn(sql), startedAt);
      }
    }
  };

  readonly release = async (): Promise<void> => {
    const { connecting } = this;
    if (!connecting || this.isConnected) return this.leave();
    // The connection counts until it has opened or failed.
    const leave = (): Promise<void> => this.leave();
    void connecting.then(leave, leave).catch(() => undefined);
  };

  /** BEGIN is sent with the first statement; a transaction without statements is never sent. */
  private isOnlyNoted(sql: string): boolean {
    const isBegin = sql === BEGIN;
    if (!isBegin && sql !== 'COMMIT' && sql !== 'ROLLBACK') return false;
    const hasBegun = this.begun !== undefined;
    this.hasToBegin = isBegin;
    this.begun = undefined;
    return isBegin || !hasBegun;
  }

  private async connected(sql: string): Promise<Client> {
    const { share, limits } = this.guard;
    if (!this.isConnected) this.guard.refuseWhileUnreachable();
    const work = { table: tableIn(sql), isTransaction: this.runner.isTransactionActive };
    this.entered ??= share?.enter(work, limits.waitMs);
    await this.entered;
    return this.connect();
  }

  private async connect(): Promise<Client> {
    const { waitMs } = this.guard.limits;
    const until = performance.now() + waitMs;
    for (;;) {
      // node-postgres is the only driver here; TypeORM knows its client as `any`.
      this.connecting ??= this.guard.reach(() => this.runner.connect() as Promise<Client>);
      try {
        const client = await beforeLate(this.connecting, waitMs);
        this.isConnected = true;
        return client;
      } catch (error) {
        if (troubleOf(error) !== 'busy' || performance.now() > until) throw error;
        await sleep(TRY_AGAIN_MS);
        this.connecting = undefined;
        Object.assign(this.runner, { databaseConnectionPromise: undefined });
      }
    }
  }

  private async run(query: () => Promise<unknown>, client: Client): Promise<unknown> {
    if (this.hasToBegin) {
      await (this.begun ??= this.inTime(client.query(this.beginning()), client));
    } else if (!this.guard.areLimitsSet && !this.runner.isTransactionActive) {
      return this.runAlone(query, client);
    }
    return this.inTime(query(), client);
  }

  /** In its own transaction: behind a pooler, timeouts can be set only for a transaction. */
  private async runAlone(query: () => Promise<unknown>, client: Client): Promise<unknown> {
    await this.inTime(client.query(this.beginning()), client);
    try {
      const result = await this.inTime(query(), client);
      await this.inTime(client.query('COMMIT'), client);
      return result;
    } catch (error) {
      await this.inTime(client.query('ROLLBACK'), client).catch(() => undefined);
      throw error;
    }
  }

  private beginning(): string {
    if (!this.guard.share) return BEGIN;
    const { lockMs, statementMs } = this.guard.limits;
    return `${BEGIN}; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs}; SET LOCAL idle_in_transaction_session_timeout = ${statementMs * 2}`;
  }

  private async inTime<T>(work: Promise<T>, client: Client): Promise<T> {
    const lateMs = this.guard.limits.statementMs + GRACE_MS;
    return beforeLate(work, lateMs, () => {
      if (this.guard.share) void client.end().catch(() => undefined);
    });
  }

  private async leave(): Promise<void> {
    await this.giveBack();
    const leave = await this.entered?.catch(() => undefined);
    leave?.();
  }
}

const noPlace = (): void => undefined;

async function beforeLate<T>(
  work: Promise<T>,
  ms: number,
  onLate: () => void = noPlace,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      onLate();
      reject(new DatabaseUnavailable('slow'));
    }, ms).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

/** Commits: the end of a transaction, or a statement outside of one. */
function writes(sql: string, runner: QueryRunner): boolean {
  if (sql === 'COMMIT') return true;
  return !runner.isTransactionActive && /^\s*(?:INSERT|UPDATE|DELETE|WITH)\b/i.test(sql);
}

/** The first table that a statement names, as written here or by TypeORM. */
function tableIn(sql: string): string | undefined {
  return /\bmcp"?\."?(\w+)/.exec(sql)?.[1];
}
