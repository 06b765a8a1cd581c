import {
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  LogRing,
  type SessionEnd,
  type UpstreamSession,
} from '@app/mcp';
import { AppError, type Clock } from '@app/platform';
import type { StatusChange, StatusSignal } from '@app/registry';
import {
  ATTEMPTS,
  failuresAfterLoss,
  nextWaitMs,
  waitAfterRefusalMs,
  wakePauseMs,
} from './reconnect-policy.js';
import type { ConnectRequest } from './upstream-connector.js';

const IDLE_CHECK_MS = 25;

/** What a keeper needs of the world; the pool gives it. */
export interface KeeperWorld {
  readonly clock: Clock;
  readonly healthIntervalS: number;
  random(): number;
  connect(request: ConnectRequest): Promise<UpstreamSession>;
  /** Where connects that nobody waits for stand in line. */
  inLine<T>(work: () => Promise<T>): Promise<T>;
  /** Whether this process is the one that connects unasked and writes rows. */
  leads(): boolean;
  /** Moves the row if this process leads; never rejects. */
  signal(signal: StatusSignal, change?: StatusChange): Promise<void>;
  opened(session: UpstreamSession): void;
  lost(reason: string): void;
  refused(reason: string): void;
}

export interface OpenRequest {
  readonly attempts: number;
  /** Nobody waits for it, so it stands in line with the others. */
  readonly background: boolean;
  readonly probe: boolean;
}

export interface CloseRequest {
  /** Pending calls are cancelled instead of waited for. */
  readonly force: boolean;
  readonly drainMs: number;
  readonly change?: StatusChange;
}

const RECONNECT: OpenRequest = { attempts: 1, background: true, probe: false };
const WAKE: OpenRequest = { attempts: 1, background: false, probe: false };

/**
 * Keeps one server connected for as long as it lives: opens with retries, opens again after a loss and
 * never gives up, opens at once when somebody needs it; all of them share one attempt.
 */
export class SessionKeeper {
  /** When the leading process had connected as this session began; only of use where another leads. */
  basis: number | undefined;
  private readonly log = new LogRing();
  private session: UpstreamSession | undefined;
  private openedAt = 0;
  private opening: Promise<UpstreamSession> | undefined;
  private failures = 0;
  /** On the clock; before that, calls find the last failure instead of causing another. */
  private noWakeBefore = 0;
  private draining = false;
  private readonly life = new AbortController();
  private waiting: AbortController | undefined;
  private needsPerson = false;
  /** Changes of the row in the order in which they happened. */
  private signals: Promise<void> = Promise.resolve();
  private signalled = 0;
  private written = 0;

  constructor(private readonly world: KeeperWorld) {}

  /** The session calls may use now. */
  get live(): UpstreamSession | undefined {
    return this.draining ? undefined : this.session;
  }

  get pending(): number {
    return this.session?.pending ?? 0;
  }

  get isClosed(): boolean {
    return this.life.signal.aborted;
  }

  /** There is no session, and nothing is under way to bring one about although a person could not help. */
  get isIdle(): boolean {
    return !this.session && !this.opening && !this.waiting && !this.needsPerson && !this.isClosed;
  }

  /** Nothing is under way, so the row should say what is; `changes` tells whether that is still so later. */
  get isSettled(): boolean {
    return !this.opening && !this.draining && this.written === this.changes;
  }

  /** Counts what the row was told. */
  get changes(): number {
    return this.signalled;
  }

  /** Of all its processes, so that the last words of one that died are there. */
  logs(): readonly string[] {
    return this.log.all();
  }

  /** Opens a session, or joins those who wait for one. A request of a person starts the series of waits anew. */
  open(request: Partial<OpenRequest> = {}): Promise<UpstreamSession> {
    this.draining = false;
    if (this.session) return Promise.resolve(this.session);
    if (request.probe) this.failures = 0;
    this.opening ??= this.attempt({
      attempts: ATTEMPTS,
      background: false,
      probe: true,
      ...request,
    }).finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** For a call: the live session, or one immediate attempt to get one. Undefined when it is too early for another. */
  wake(): Promise<UpstreamSession> | undefined {
    if (this.draining || this.life.signal.aborted) return undefined;
    if (this.session) return Promise.resolve(this.session);
    if (this.opening) return this.opening;
    if (this.now() < this.noWakeBefore) return undefined;
    return this.open(WAKE);
  }

  /** The row says that it serves, and it does not. */
  async confess(reason: string): Promise<void> {
    await this.signal('failed', { reason });
  }

  /** The session is there but useless: as if it had been lost. */
  async drop(reason: string): Promise<void> {
    const { session } = this;
    if (!session) return;
    this.onEnd(session, { reason, cause: 'lost' });
    await session.close({ force: true });
  }

  /** Refuses new calls and waits for the pending ones. False when somebody wanted it back meanwhile. */
  async drain(withinMs: number): Promise<boolean> {
    const { session } = this;
    if (!session) return true;
    this.draining = true;
    const until = this.now() + withinMs;
    while (session.pending > 0 && this.now() < until && this.draining) {
      await this.world.clock.sleep(IDLE_CHECK_MS);
    }
    return this.draining;
  }

  /** Ends it for good: `written` when the row says so, `gone` when its process is too. */
  end({ force, change }: Pick<CloseRequest, 'force' | 'change'>): {
    written: Promise<void>;
    gone: Promise<void>;
  } {
    const { session, opening } = this;
    this.life.abort();
    this.waiting?.abort();
    this.session = undefined;
    const forced = force || (session?.pending ?? 0) > 0;
    const gone = Promise.all([
      session?.close({ force: forced }),
      opening?.catch(() => undefined),
    ]).then(() => undefined);
    return { written: this.signal('disconnect', change), gone };
  }

  private async attempt(request: OpenRequest): Promise<UpstreamSession> {
    this.waiting?.abort();
    this.waiting = undefined;
    this.needsPerson = false;
    await this.signal('connect');
    const { signal } = this.life;
    for (let attempt = 1; ; attempt++) {
      try {
        const connect = (): Promise<UpstreamSession> =>
          this.world.connect({
            probe: request.probe,
            signal,
            onLogLine: (line) => this.log.add(line),
          });
        const session = await (request.background ? this.world.inLine(connect) : connect());
        return await this.adopt(session);
      } catch (error) {
        this.failures++;
        if (signal.aborted) throw error;
        if (attempt >= request.attempts || isPermanent(error)) throw await this.fail(error);
        const wait = nextWaitMs(attempt, this.world.healthIntervalS, this.world.random());
        await this.world.clock.sleep(wait, signal);
      }
    }
  }

  private async adopt(session: UpstreamSession): Promise<UpstreamSession> {
    if (this.life.signal.aborted) {
      await session.close({ force: true });
      throw new Error('closed while it was opening');
    }
    this.session = session;
    this.openedAt = this.now();
    const written = this.signal('connected', { details: { era: session.era } });
    // Not after the row is written: calls may use the session already, and must never find a dead one.
    void session.closed.then((end) => this.onEnd(session, end));
    await written;
    if (this.session === session) this.world.opened(session);
    return session;
  }

  private async fail(error: unknown): Promise<unknown> {
    const reason = error instanceof Error ? error.message : String(error);
    await this.signal('connection-failed', { reason });
    this.noWakeBefore = this.now() + wakePauseMs(this.failures);
    if (error instanceof CredentialsRefused) this.refuse(reason);
    else if (isPermanent(error)) this.needsPerson = true;
    else this.openAgainIn(this.nextWait());
    return error;
  }

  private onEnd(session: UpstreamSession, end: SessionEnd): void {
    if (this.session !== session || this.life.signal.aborted) return;
    this.session = undefined;
    this.failures = failuresAfterLoss(this.failures, this.now() - this.openedAt);
    if (this.failures > 1) this.noWakeBefore = this.now() + wakePauseMs(this.failures - 1);
    void this.signal('failed', { reason: end.reason });
    this.world.lost(end.reason);
    if (end.cause === 'refused') this.refuse(end.reason);
    else this.openAgainIn(this.nextWait());
  }

  private refuse(reason: string): void {
    this.world.refused(reason);
    const wait = waitAfterRefusalMs(this.world.random());
    this.noWakeBefore = this.now() + wait;
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
      await this.world.clock.sleep(ms, signal);
    } catch {
      return; // whoever ended the wait opens instead
    }
    this.waiting = undefined;
    if (!this.world.leads()) return;
    // A failure has arranged for the next attempt.
    await this.open(RECONNECT).catch(() => undefined);
  }

  private nextWait(): number {
    return nextWaitMs(this.failures, this.world.healthIntervalS, this.world.random());
  }

  private signal(signal: StatusSignal, change?: StatusChange): Promise<void> {
    this.signalled++;
    this.signals = this.signals.then(async () => {
      await this.world.signal(signal, change);
      this.written++;
    });
    return this.signals;
  }

  private now(): number {
    return this.world.clock.now().getTime();
  }
}

/** Waiting mends no configuration and no credentials: a person has to change them. */
function isPermanent(error: unknown): boolean {
  return (
    error instanceof AppError &&
    !(error instanceof ConnectFailed) &&
    !(error instanceof ConnectionLost)
  );
}
