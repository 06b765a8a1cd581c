import {
  AuthorizationNeeded,
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  LogRing,
  type SessionEnd,
  type UpstreamSession,
} from '@app/mcp-client';
import { AppError, type Clock, DatabaseUnavailable } from '@app/platform';
import type { StatusChange, StatusSignal } from '@app/registry';
import { CallTurns } from './call-turns.js';
import { ATTEMPTS, failuresAfterLoss, nextWaitMs, waitAfterRefusalMs } from './reconnect-policy.js';
import { StatusWrites } from './status-writes.js';
import type { ConnectRequest } from '../connect/upstream-connector.js';

const IDLE_CHECK_MS = 25;

/** The dependencies of a keeper, supplied by the pool. */
export interface KeeperDependencies {
  readonly clock: Clock;
  readonly healthIntervalS: number;
  random(): number;
  connect(request: ConnectRequest): Promise<UpstreamSession>;
  /** Limits how many background connects run at the same time; `hurry` ends the wait for a place. */
  inLine<T>(work: () => Promise<T>, hurry: AbortSignal): Promise<T>;
  /** Whether this process leads: it connects in the background and writes the status of servers. */
  leads(): boolean;
  /** Writes the status change if this process leads; never rejects. */
  signal(signal: StatusSignal, change?: StatusChange): Promise<void>;
  opened(session: UpstreamSession): void;
  lost(reason: string): void;
  refused(reason: string): void;
}

export interface OpenRequest {
  readonly attempts: number;
  /** No caller waits for the result, so the connect goes through the queue for background connects. */
  readonly background: boolean;
  readonly probe: boolean;
  /** The row already says CONNECTING. */
  readonly isAnnounced?: boolean;
  /** The row already says that the server serves, as it may at other replicas; only a failure changes that. */
  readonly isServing?: boolean;
}

export interface CloseRequest {
  /** Cancel pending calls instead of draining them. */
  readonly force: boolean;
  readonly drainMs: number;
  /** For a disconnect by request; the row then says DISCONNECTING while calls are pending. */
  readonly change?: StatusChange;
  /** For the history, when it was not requested. */
  readonly reason?: string;
  /** What the row says already, because another process disconnected the server. */
  readonly status?: 'DISCONNECTING' | 'DISCONNECTED' | undefined;
}

const BY_REQUEST: OpenRequest = { attempts: ATTEMPTS, background: false, probe: true };
const RECONNECT: OpenRequest = { attempts: 1, background: true, probe: false };
const WAKE: OpenRequest = { attempts: 1, background: false, probe: false };

/**
 * Keeps one server connected: retries until it succeeds, reconnects after a loss, and connects at once when a call
 * needs the session. All requests share one attempt in flight.
 */
export class SessionKeeper {
  readonly status: StatusWrites;
  private readonly log = new LogRing();
  private session: UpstreamSession | undefined;
  private openedAt = 0;
  private opening: Promise<UpstreamSession> | undefined;
  private failures = 0;
  private readonly life = new AbortController();
  private readonly turns: CallTurns;
  private draining: 'quietly' | 'announced' | undefined;
  /** Set while the next attempt waits in the queue or for its backoff; aborting it starts the attempt. */
  private held: AbortController | undefined;
  /** A call waits for the attempt in flight. */
  private isNeeded = false;
  /** The wait of the background reconnect. */
  private waiting: AbortController | undefined;
  private needsPerson = false;
  /** Of the row from which the last attempt read its configuration. */
  private connectionVersion: number | undefined;
  /** Monotonic time. Until then calls start no attempt: the server refused our credentials (contract R17). */
  private refusedUntil = 0;

  constructor(private readonly deps: KeeperDependencies) {
    this.status = new StatusWrites((signal, change) => deps.signal(signal, change));
    this.turns = new CallTurns(deps.clock, this.life.signal);
  }

  /** The session that calls may use; undefined while it drains. */
  get live(): UpstreamSession | undefined {
    return this.draining ? undefined : this.session;
  }

  get pending(): number {
    return this.session?.pending ?? 0;
  }

  get isClosed(): boolean {
    return this.life.signal.aborted;
  }

  /** No session, no attempt running or scheduled, and the last failure can be retried. */
  get isIdle(): boolean {
    return !this.session && !this.opening && !this.waiting && !this.needsPerson && !this.isClosed;
  }

  /**
   * No connect, drain or status write is in progress, so row and session can be compared. `status.count` tells
   * whether a change followed.
   */
  get hasNoPendingWrites(): boolean {
    return !this.opening && !this.draining && this.status.areDone;
  }

  /** Its pending calls end after a disconnect by request; `open` keeps the session. */
  get isLeaving(): boolean {
    return this.draining === 'announced';
  }

  /** The row has another configuration than the last attempt used, or the server was disconnected since. */
  isOutdated(connectionVersion: number): boolean {
    return this.connectionVersion !== undefined && this.connectionVersion < connectionVersion;
  }

  /** Log lines of all processes of this server, including those that have exited. */
  logs(): readonly string[] {
    return this.log.all();
  }

  /** Opens a session, or joins the attempt in flight. A request by a person (`probe`) resets the backoff. */
  open(request: Partial<OpenRequest> = {}): Promise<UpstreamSession> {
    const { draining, session } = this;
    this.draining = undefined;
    if (session && draining === 'announced') return this.report(session, request.isAnnounced);
    if (session) return Promise.resolve(session);
    if (request.probe) this.failures = 0;
    this.opening ??= this.attempt({ ...BY_REQUEST, ...request }).finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /**
   * For a call: the live session, or the attempt that is under way, or one that starts at its turn (contract R41).
   * Undefined when no attempt is due for a call: the session is being closed, or our credentials were refused.
   */
  wake(): Promise<UpstreamSession> | undefined {
    if (this.draining || this.isClosed) return undefined;
    if (this.session) return Promise.resolve(this.session);
    if (this.opening) {
      this.hurry();
      return this.opening;
    }
    return this.now() < this.refusedUntil ? undefined : this.openInTurn();
  }

  /** The row says that the server serves, but there is no session: mark it failed. */
  async reportMissingSession(reason: string): Promise<void> {
    await this.status.add('failed', { reason });
  }

  /** The row says that the server does not serve, but there is a session: mark it connected. */
  async reportSession(isAnnounced: boolean): Promise<void> {
    if (this.session) await this.report(this.session, isAnnounced);
  }

  /** Ends a session that no longer answers and handles it as a lost one. */
  async drop(reason: string): Promise<void> {
    const { session } = this;
    if (!session) return;
    this.onEnd(session, { reason, cause: 'lost' });
    await session.close({ force: true });
  }

  /**
   * Refuses new calls and waits for pending ones. False if `open` was called in the meantime: the session stays.
   */
  async drain({
    drainMs,
    change,
    status,
  }: Omit<CloseRequest, 'force' | 'reason'>): Promise<boolean> {
    const { session } = this;
    if (!session) return true;
    this.draining ??= 'quietly';
    if (change && this.draining === 'quietly' && session.pending > 0) {
      void this.status.add('disconnecting', change);
      this.draining = 'announced';
    }
    if (status) this.draining = 'announced';
    const until = this.now() + drainMs;
    while (session.pending > 0 && this.now() < until && this.draining) {
      await this.deps.clock.sleep(IDLE_CHECK_MS);
    }
    return this.draining !== undefined;
  }

  /**
   * Ends the keeper for good. `written` resolves when the row is updated, `gone` when the process has exited as
   * well.
   */
  end({ force, change, reason, status }: Omit<CloseRequest, 'drainMs'>): {
    written: Promise<void>;
    gone: Promise<void>;
  } {
    const { session, opening } = this;
    this.life.abort();
    this.waiting?.abort();
    this.held?.abort();
    this.session = undefined;
    const forced = force || (session?.pending ?? 0) > 0;
    const gone = Promise.all([
      session?.close({ force: forced }),
      opening?.catch(() => undefined),
    ]).then(() => undefined);
    if (status === 'DISCONNECTED') return { written: this.status.done, gone };
    const noted = reason === undefined ? change : { ...change, details: { reason } };
    return { written: this.status.add('disconnect', noted), gone };
  }

  private async openInTurn(): Promise<UpstreamSession> {
    await this.turns.next();
    if (this.draining || this.isClosed) throw new ConnectFailed('it is no longer wanted');
    return this.open(WAKE);
  }

  /** Ends the wait of an attempt that has not started yet. */
  private hurry(): void {
    this.isNeeded = true;
    const { held } = this;
    if (!held) return;
    this.turns.next().then(
      () => held.abort(),
      () => undefined, // the keeper has ended
    );
  }

  private hold(): AbortSignal {
    this.held = new AbortController();
    if (this.isNeeded) this.hurry();
    return this.held.signal;
  }

  private async attempt(request: OpenRequest): Promise<UpstreamSession> {
    this.waiting?.abort();
    this.waiting = undefined;
    this.needsPerson = false;
    this.isNeeded = false;
    if (!request.isAnnounced && !request.isServing) await this.status.add('connect');
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.adopt(await this.connect(request), request);
      } catch (error) {
        this.failures++;
        if (this.isClosed) throw error;
        if (attempt >= request.attempts || isPermanent(error))
          throw await this.fail(error, request);
        await this.rest(nextWaitMs(attempt, this.deps.healthIntervalS, this.deps.random()));
      }
    }
  }

  private connect({ background, probe }: OpenRequest): Promise<UpstreamSession> {
    const { signal } = this.life;
    const connect = (): Promise<UpstreamSession> => {
      this.held = undefined;
      return this.deps.connect({
        probe,
        signal,
        onLogLine: (line) => this.log.add(line),
        onRead: (server) => (this.connectionVersion = server.connectionVersion),
      });
    };
    return background ? this.deps.inLine(connect, this.hold()) : connect();
  }

  /** The wait between attempts; a call ends it. */
  private async rest(ms: number): Promise<void> {
    await this.deps.clock.sleep(ms, this.hold()).catch(() => undefined);
    this.held = undefined;
    if (this.isClosed) throw new ConnectFailed('it is no longer wanted');
  }

  private async adopt(
    session: UpstreamSession,
    { isServing }: OpenRequest,
  ): Promise<UpstreamSession> {
    if (this.isClosed) {
      await session.close({ force: true });
      throw new Error('closed while it was opening');
    }
    this.session = session;
    this.openedAt = this.now();
    const written = isServing ? this.status.done : this.status.add('connected', detailsOf(session));
    // Listen before the row is written: calls may use the session already and must not get one that has closed.
    void session.closed.then((end) => this.onEnd(session, end));
    await written;
    if (this.session === session) this.deps.opened(session);
    return session;
  }

  /** For an open session of which the row says something else, such as that it is being closed. */
  private async report(session: UpstreamSession, isAnnounced = false): Promise<UpstreamSession> {
    if (!isAnnounced) void this.status.add('connect');
    await this.status.add('connected', detailsOf(session));
    return session;
  }

  private async fail(error: unknown, { isServing }: OpenRequest): Promise<unknown> {
    const reason = error instanceof Error ? error.message : String(error);
    await this.status.add(isServing ? 'failed' : 'connection-failed', {
      reason,
      ...(error instanceof AuthorizationNeeded && { details: { needs_login: true } }),
    });
    if (error instanceof CredentialsRefused) this.refuse(reason);
    else if (isPermanent(error)) this.needsPerson = true;
    else this.openAgainIn(this.nextWait());
    return error;
  }

  private onEnd(session: UpstreamSession, end: SessionEnd): void {
    if (this.session !== session || this.isClosed) return;
    this.session = undefined;
    // The next call, or the next comparison with the rows, opens one to where the server runs now.
    if (end.cause === 'moved') return;
    this.failures = failuresAfterLoss(this.failures, this.now() - this.openedAt);
    if (this.draining !== 'announced') void this.status.add('failed', { reason: end.reason });
    this.deps.lost(end.reason);
    if (this.draining) return; // nothing is pending any more, so the keeper ends now
    if (end.cause === 'refused') this.refuse(end.reason);
    else this.openAgainIn(this.nextWait());
  }

  private refuse(reason: string): void {
    this.deps.refused(reason);
    const wait = waitAfterRefusalMs(this.deps.random());
    this.refusedUntil = this.now() + wait;
    this.openAgainIn(wait);
  }

  private openAgainIn(ms: number): void {
    this.waiting?.abort();
    const waiting = new AbortController();
    this.waiting = waiting;
    void this.openAfter(ms, waiting.signal);
  }

  private async openAfter(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.deps.clock.sleep(ms, signal);
    } catch {
      return; // the attempt that cancelled this wait replaces it
    }
    this.waiting = undefined;
    if (!this.deps.leads()) return;
    // A failed attempt has already scheduled the next one.
    await this.open(RECONNECT).catch(() => undefined);
  }

  private nextWait(): number {
    return nextWaitMs(this.failures, this.deps.healthIntervalS, this.deps.random());
  }

  private now(): number {
    return this.deps.clock.monotonic();
  }
}

function detailsOf({ era }: UpstreamSession): StatusChange {
  return { details: { era } };
}

/** Errors that a retry cannot fix: a person has to change the configuration or the credentials. */
function isPermanent(error: unknown): boolean {
  return (
    error instanceof AppError &&
    !(error instanceof ConnectFailed) &&
    !(error instanceof ConnectionLost) &&
    !(error instanceof DatabaseUnavailable)
  );
}
