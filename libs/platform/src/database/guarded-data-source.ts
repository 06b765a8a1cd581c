import {
  DataSource,
  type DataSourceOptions,
  type QueryRunner,
  type ReplicationMode,
} from 'typeorm';
import type { ConnectionBudget, Share, WorkKind } from './connections/connection-budget.js';
import { ConnectionShare } from './connections/connection-share.js';
import { guardRunner, type SlowStatements } from './connections/guarded-runner.js';
import { DatabaseUnavailable } from './failures/database.errors.js';
import { type DatabaseTrouble, troubleOf } from './failures/pg-errors.js';

/** While the database is unreachable, one attempt at a time probes it; all others fail at once. */
const TRY_AGAIN_MS = 1_000;

export interface GuardOptions {
  readonly budget: ConnectionBudget;
  /** Connected by sockets, which are closed when the server does not respond. */
  readonly isRemote: boolean;
  /** Address of the same database without its pooler; set only if `url` is a pooler. */
  readonly directUrl?: string | undefined;
  /** Undefined when nothing is traced. */
  readonly slow?: SlowStatements | undefined;
  /** Monotonic. */
  readonly now?: () => number;
}

export type GuardedOptions = DataSourceOptions & { readonly guard: GuardOptions };

/**
 * Guards every query: it uses the connections of its kind of work and has a deadline, and any error of the driver that
 * means a failure of the database becomes DatabaseUnavailable.
 */
export class GuardedDataSource extends DataSource {
  private readonly guard: GuardOptions;
  private readonly now: () => number;
  private readonly shares = new Map<Share, ConnectionShare>();
  private unreachableAt: number | undefined;
  private isTrying = false;
  private refusal: DatabaseTrouble | undefined;

  constructor(options: GuardedOptions) {
    super(options);
    this.guard = options.guard;
    this.now = options.guard.now ?? (() => performance.now());
  }

  /** Why the last write failed; undefined after a successful one. */
  get writeTrouble(): DatabaseTrouble | undefined {
    return this.refusal;
  }

  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    return this.runnerFor('requests', mode);
  }

  /** The same database, for another kind of work than requests. */
  for(kind: WorkKind): DataSource {
    const view: DataSource = Object.create(this, {
      createQueryRunner: { value: (mode?: ReplicationMode) => this.runnerFor(kind, mode) },
    });
    return Object.defineProperty(view, 'manager', { value: view.createEntityManager() });
  }

  /** Without a deadline: a migration may take as long as it needs. */
  createPatientRunner(): QueryRunner {
    return super.createQueryRunner();
  }

  private runnerFor(kind: WorkKind, mode?: ReplicationMode): QueryRunner {
    const limits = this.guard.budget.kinds[kind];
    const { isRemote, directUrl } = this.guard;
    const isQuick = limits.statementMs === this.guard.budget.kinds.requests.statementMs;
    return guardRunner(super.createQueryRunner(mode), {
      limits,
      share: isRemote ? this.shareOf(limits.share) : undefined,
      areLimitsSet: !isRemote || (isQuick && directUrl === undefined),
      refuseWhileUnreachable: () => this.refuseWhileUnreachable(),
      reach: (connect) => this.reach(connect),
      translated: (error, isSentWrite) => this.translated(error, isSentWrite),
      noteWrite: () => (this.refusal = undefined),
      slow: this.guard.slow,
    });
  }

  private shareOf(share: Share): ConnectionShare {
    const known = this.shares.get(share);
    if (known) return known;
    const made = new ConnectionShare(this.guard.budget.shares[share]);
    this.shares.set(share, made);
    return made;
  }

  private async reach<T>(connect: () => Promise<T>): Promise<T> {
    this.refuseWhileUnreachable();
    const isAttempt = this.unreachableAt !== undefined;
    if (isAttempt) this.isTrying = true;
    try {
      const connected = await connect();
      this.unreachableAt = undefined;
      return connected;
    } catch (error) {
      const trouble = error instanceof DatabaseUnavailable ? error.trouble : troubleOf(error);
      if (trouble === 'unreachable') this.unreachableAt = this.now();
      throw error;
    } finally {
      if (isAttempt) this.isTrying = false;
    }
  }

  private refuseWhileUnreachable(): void {
    if (this.unreachableAt === undefined) return;
    if (this.isTrying || this.now() - this.unreachableAt < TRY_AGAIN_MS) {
      throw new DatabaseUnavailable('unreachable');
    }
  }

  private translated(error: unknown, isSentWrite: boolean): unknown {
    const trouble = error instanceof DatabaseUnavailable ? error.trouble : troubleOf(error);
    if (!trouble) return error;
    if (trouble === 'full' || trouble === 'read-only' || trouble === 'failing') {
      this.refusal = trouble;
    }
    const isOutcomeUnknown =
      isSentWrite && (trouble === 'unreachable' || error instanceof DatabaseUnavailable);
    if (error instanceof DatabaseUnavailable && !isOutcomeUnknown) return error;
    return new DatabaseUnavailable(trouble, error, isOutcomeUnknown);
  }
}
