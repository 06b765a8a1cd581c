import { ConnectFailed, CredentialsRefused, type UpstreamSession } from '@app/mcp-client';
import { AppError, DatabaseUnavailable } from '@app/platform';
import { nextStatus, type Server, type ServerStatus, type StatusSignal } from '@app/registry';
import fc from 'fast-check';
import { FakeClock, settle } from '../../../../test/support/fake-clock.js';
import type { ConnectRequest } from '../connect/upstream-connector.js';
import { FakeSession } from './fake-session.js';
import { type CloseRequest, type KeeperDependencies, SessionKeeper } from './session-keeper.js';

class Misconfigured extends AppError {
  constructor() {
    super('a variable is not set', { kind: 'unavailable', code: 'SERVER_CONNECTION_FAILED' });
  }
}

/** Connects with the listed `outcomes` first, then always with success; keeps the row as the registry would. */
class World implements KeeperDependencies {
  readonly clock = new FakeClock();
  readonly healthIntervalS = 30;
  readonly sessions: FakeSession[] = [];
  readonly signals: StatusSignal[] = [];
  readonly refusedSignals: StatusSignal[] = [];
  readonly heard: string[] = [];
  attempts = 0;
  status: ServerStatus = 'DISCONNECTED';
  connectionVersion = 1;
  outcomes: (Error | 'hang')[] = [];
  /** The queue for background connects never gets to this server. */
  isBusy = false;

  random(): number {
    return 0.5; // no jitter
  }
  connect(request: ConnectRequest): Promise<UpstreamSession> {
    const { signal } = request;
    this.attempts++;
    request.onRead({ connectionVersion: this.connectionVersion } as Server);
    const outcome = this.outcomes.shift();
    if (outcome === 'hang') {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new ConnectFailed('no longer wanted')));
      });
    }
    if (outcome) return Promise.reject(outcome);
    const session = new FakeSession();
    this.sessions.push(session);
    return Promise.resolve(session);
  }
  leads(): boolean {
    return true;
  }
  inLine<T>(work: () => Promise<T>, hurry: AbortSignal): Promise<T> {
    if (!this.isBusy) return work();
    return new Promise((resolve, reject) => {
      hurry.addEventListener('abort', () => void work().then(resolve, reject));
    });
  }
  signal(signal: StatusSignal): Promise<void> {
    const to = nextStatus(this.status, signal);
    if (to) this.signals.push(signal);
    else this.refusedSignals.push(signal);
    this.status = to ?? this.status;
    return Promise.resolve();
  }
  opened(): void {
    this.heard.push('opened');
  }
  lost(): void {
    this.heard.push('lost');
  }
  refused(): void {
    this.heard.push('refused');
  }
  get session(): FakeSession {
    const session = this.sessions.at(-1);
    if (!session) throw new Error('there is no session');
    return session;
  }
}

/** Drains and ends a keeper as the pool does. */
async function close(
  keeper: SessionKeeper,
  request: CloseRequest,
): Promise<{ gone?: Promise<void> }> {
  if (!request.force && !(await keeper.drain(request))) return {};
  const { written, gone } = keeper.end(request);
  await written;
  return { gone };
}

const down = (): Error => new ConnectFailed('it is down');
const times = (count: number): Error[] => Array.from({ length: count }, down);

async function connected(deps = new World()): Promise<{ deps: World; keeper: SessionKeeper }> {
  const keeper = new SessionKeeper(deps);
  await keeper.open();
  return { deps, keeper };
}

describe(SessionKeeper.name, () => {
  it('opens at the first attempt and reports it', async () => {
    const { deps, keeper } = await connected();
    expect(keeper.live).toBe(deps.session);
    expect(deps.signals).toEqual(['connect', 'connected']);
    expect(deps.heard).toEqual(['opened']);
    expect(deps.clock.nextWakeMs).toBeUndefined();
  });

  it('requests no transition that has already been made', async () => {
    const deps = new World();
    deps.status = 'CONNECTING';
    await new SessionKeeper(deps).open({ isAnnounced: true });
    expect([deps.signals, deps.refusedSignals]).toEqual([['connected'], []]);
  });

  it('requests no transition for a server that serves already', async () => {
    const deps = new World();
    deps.status = 'CONNECTED';
    await new SessionKeeper(deps).open({ isServing: true });
    expect([deps.signals, deps.refusedSignals, deps.heard]).toEqual([[], [], ['opened']]);
  });

  it('reports that a server which served cannot be connected, and keeps trying', async () => {
    const deps = new World();
    deps.status = 'CONNECTED';
    deps.outcomes = times(1);
    await expect(new SessionKeeper(deps).open({ isServing: true, attempts: 1 })).rejects.toThrow(
      'it is down',
    );
    expect(deps.signals).toEqual(['failed']);
    await deps.clock.advance(1_000);
    expect([deps.signals, deps.refusedSignals]).toEqual([['failed', 'connect', 'connected'], []]);
  });

  it('knows whether the connection was changed since it read the row', async () => {
    const { deps, keeper } = await connected();
    expect([keeper.isOutdated(1), keeper.isOutdated(2)]).toEqual([false, true]);
    expect(new SessionKeeper(deps).isOutdated(2)).toBe(false);
  });

  it.each(['ERROR', 'CONNECTING', 'DISCONNECTED', 'DISCONNECTING'] as const)(
    'reports its session when the row says %s',
    async (status) => {
      const { deps, keeper } = await connected();
      deps.status = status;
      await keeper.reportSession(status === 'CONNECTING');
      expect([deps.status, deps.refusedSignals]).toEqual(['CONNECTED', []]);
    },
  );

  it('makes three attempts, 1 and 2 seconds apart, before it reports an error', async () => {
    const deps = new World();
    deps.outcomes = times(3);
    const keeper = new SessionKeeper(deps);
    const opening = expect(keeper.open()).rejects.toThrow('it is down');
    await settle();
    expect([deps.attempts, deps.clock.nextWakeMs]).toEqual([1, 1_000]);
    await deps.clock.advance(1_000);
    expect([deps.attempts, deps.clock.nextWakeMs]).toEqual([2, 2_000]);
    expect(deps.status).toBe('CONNECTING');
    await deps.clock.advance(2_000);
    await opening;
    expect([deps.attempts, deps.status]).toEqual([3, 'ERROR']);
  });

  it('never gives up: 4, 8, 16 s, then slower up to 5 minutes', async () => {
    const deps = new World();
    deps.outcomes = times(16);
    const keeper = new SessionKeeper(deps);
    const opening = keeper.open().catch(() => undefined);
    await deps.clock.advance(3_000);
    await opening;
    const waits: number[] = [];
    while (keeper.live === undefined) {
      waits.push((deps.clock.nextWakeMs ?? Number.NaN) / 1_000);
      await deps.clock.advance(deps.clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([4, 8, 16, 30, 60, 120, 240, ...Array<number>(7).fill(300)]);
    expect(deps.status).toBe('CONNECTED');
  });

  it('reopens after a loss: 1, 2, 4, 8, 16 s', async () => {
    const { deps, keeper } = await connected();
    await deps.clock.advance(61_000);
    deps.outcomes = times(5);
    deps.session.lose();
    await settle();
    expect(deps.status).toBe('ERROR');
    expect(keeper.live).toBeUndefined();
    const waits: number[] = [];
    while (keeper.live === undefined) {
      waits.push((deps.clock.nextWakeMs ?? Number.NaN) / 1_000);
      await deps.clock.advance(deps.clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30]);
    expect(deps.heard).toEqual(['opened', 'lost', 'opened']);
  });

  it('the backoff starts over after a session that lived one minute, and continues after a shorter one', async () => {
    const { deps } = await connected();
    const waits: (number | undefined)[] = [];
    for (const heldMs of [0, 1_000, 59_999, 60_000, 0]) {
      await deps.clock.advance(heldMs);
      deps.session.lose();
      await settle();
      waits.push(deps.clock.nextWakeMs);
      await deps.clock.advance(deps.clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
  });

  it('200 calls at once share one attempt', async () => {
    const { deps, keeper } = await connected();
    deps.session.lose();
    await settle();
    const sessions = await Promise.all(Array.from({ length: 200 }, async () => keeper.wake()));
    expect(new Set(sessions)).toEqual(new Set([deps.session]));
    expect(deps.attempts).toBe(2);
  });

  it('a call skips the backoff, however often the server was lost before', async () => {
    const { deps, keeper } = await connected();
    for (let loss = 1; loss <= 6; loss++) {
      deps.session.lose();
      await deps.clock.advance(1);
      const woken = await keeper.wake();
      expect(woken).toBe(deps.sessions[loss]);
      await deps.clock.advance(1_000);
    }
  });

  it('a call that comes too early waits for its turn instead of being refused', async () => {
    const { deps, keeper } = await connected();
    deps.outcomes = [down()];
    deps.session.lose();
    await settle();
    await expect(keeper.wake()).rejects.toThrow('it is down');
    const early = keeper.wake();
    await deps.clock.advance(900);
    expect([deps.attempts, deps.clock.nextWakeMs]).toEqual([2, 100]);
    await deps.clock.advance(100);
    await expect(early).resolves.toBe(deps.sessions[1]);
    expect(deps.attempts).toBe(3);
  });

  it('calls to a dead server cause at most one attempt a second, and each call at least takes part in one', async () => {
    const { deps, keeper } = await connected();
    deps.outcomes = times(1_000);
    deps.session.lose();
    await settle();
    for (let tenth = 0; tenth < 600; tenth++) {
      const attempts = deps.attempts;
      const call = keeper.wake();
      expect(call).toBeDefined();
      void call?.catch(() => expect(deps.attempts).toBeGreaterThan(attempts));
      await deps.clock.advance(100);
    }
    expect(deps.attempts).toBeGreaterThanOrEqual(60);
    // The background reconnect has its own series: 1, 2, 4 … s.
    expect(deps.attempts).toBeLessThanOrEqual(60 + 8);
  });

  it('a call does not wait for the pause between the attempts of a request to connect', async () => {
    const deps = new World();
    deps.outcomes = times(2);
    const keeper = new SessionKeeper(deps);
    const opening = keeper.open();
    await deps.clock.advance(1_500);
    expect([deps.attempts, deps.clock.nextWakeMs]).toEqual([2, 1_500]);
    const woken = await keeper.wake();
    expect(woken).toBe(deps.session);
    await expect(opening).resolves.toBe(deps.session);
    expect(deps.attempts).toBe(3);
  });

  it('a call does not wait behind the background connects of other servers', async () => {
    const { deps, keeper } = await connected();
    deps.session.lose();
    deps.isBusy = true;
    await deps.clock.advance(10_000);
    expect(deps.attempts).toBe(1);
    const woken = await keeper.wake();
    expect(woken).toBe(deps.sessions[1]);
  });

  it('a call that waits for its turn reopens nothing that was disconnected meanwhile', async () => {
    const { deps, keeper } = await connected();
    deps.outcomes = [down()];
    deps.session.lose();
    await settle();
    await expect(keeper.wake()).rejects.toThrow('it is down');
    const early = expect(keeper.wake()).rejects.toThrow();
    await close(keeper, { force: false, drainMs: 30_000 });
    await early;
    await deps.clock.advance(60_000);
    expect([deps.attempts, deps.status]).toEqual([2, 'DISCONNECTED']);
  });

  it('refused credentials are retried at long intervals only', async () => {
    const deps = new World();
    deps.outcomes = Array.from({ length: 100 }, () => new CredentialsRefused(401));
    const keeper = new SessionKeeper(deps);
    await expect(keeper.open()).rejects.toThrow('refused');
    expect([deps.attempts, deps.status]).toEqual([1, 'ERROR']);
    expect(deps.heard).toEqual(['refused']);
    expect(keeper.wake()).toBeUndefined();
    await deps.clock.advance(3_600_000);
    expect(deps.attempts).toBe(13);
  });

  it.each([1, -1])(
    'a wall clock moved by %i h neither starts nor delays an attempt',
    async (hours) => {
      const deps = new World();
      deps.outcomes = times(4);
      const keeper = new SessionKeeper(deps);
      const opening = keeper.open().catch(() => undefined);
      await deps.clock.advance(3_000);
      await opening;
      await expect(keeper.wake()).rejects.toThrow('it is down');
      deps.clock.setBy(hours * 3_600_000);
      const call = keeper.wake();
      await deps.clock.advance(999);
      expect(deps.attempts).toBe(4);
      await deps.clock.advance(1);
      await expect(call).resolves.toBe(deps.session);
      expect(deps.attempts).toBe(5);
    },
  );

  it('credentials that are refused during a session are an error at once', async () => {
    const { deps } = await connected();
    deps.session.end({ reason: 'refused', cause: 'refused' });
    await settle();
    expect(deps.status).toBe('ERROR');
    expect(deps.heard).toEqual(['opened', 'lost', 'refused']);
    expect(deps.clock.nextWakeMs).toBe(300_000);
  });

  it('a wrong configuration is not retried', async () => {
    const deps = new World();
    deps.outcomes = [new Misconfigured()];
    const keeper = new SessionKeeper(deps);
    await expect(keeper.open()).rejects.toThrow('not set');
    expect([deps.attempts, deps.status, deps.clock.nextWakeMs]).toEqual([1, 'ERROR', undefined]);
  });

  it('a database that does not answer is retried, unlike a wrong configuration', async () => {
    const deps = new World();
    deps.outcomes = Array.from({ length: 3 }, () => new DatabaseUnavailable('unreachable'));
    const keeper = new SessionKeeper(deps);
    const opening = keeper.open().catch(() => undefined);
    await deps.clock.advance(3_000);
    await opening;
    await deps.clock.advance(4_000);
    expect(keeper.live).toBe(deps.session);
  });

  it('closing during an attempt leaves no session behind', async () => {
    const deps = new World();
    deps.outcomes = ['hang'];
    const keeper = new SessionKeeper(deps);
    const opening = expect(keeper.open()).rejects.toThrow();
    await settle();
    const { gone } = await close(keeper, { force: false, drainMs: 30_000 });
    await Promise.all([opening, gone]);
    expect([deps.status, deps.sessions.length, deps.clock.nextWakeMs]).toEqual([
      'DISCONNECTED',
      0,
      undefined,
    ]);
  });

  it('closing drains pending calls, refuses new ones, and stops at its deadline', async () => {
    const { deps, keeper } = await connected();
    deps.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000 });
    await deps.clock.advance(29_000);
    expect([deps.status, keeper.live]).toEqual(['CONNECTED', undefined]);
    expect(keeper.wake()).toBeUndefined();
    await deps.clock.advance(1_100);
    await closing;
    expect(deps.status).toBe('DISCONNECTED');
    expect(deps.session.closeOptions).toEqual({ force: true });
  });

  it('a disconnect by request is in the row while pending calls end', async () => {
    const { deps, keeper } = await connected();
    deps.session.pending = 1;
    const closing = close(keeper, {
      force: false,
      drainMs: 30_000,
      change: { wanted: false },
    });
    await deps.clock.advance(1_000);
    expect(deps.status).toBe('DISCONNECTING');
    deps.session.pending = 0;
    await deps.clock.advance(100);
    await closing;
    expect(deps.signals).toEqual(['connect', 'connected', 'disconnecting', 'disconnect']);
    expect(deps.refusedSignals).toEqual([]);
  });

  it('a disconnect without pending calls has nothing to wait for', async () => {
    const { deps, keeper } = await connected();
    await close(keeper, { force: false, drainMs: 30_000, change: { wanted: false } });
    expect(deps.signals).toEqual(['connect', 'connected', 'disconnect']);
  });

  it.each([false, true])(
    'connecting again ends a disconnect (announced: %s)',
    async (isAnnounced) => {
      const { deps, keeper } = await connected();
      deps.session.pending = 1;
      const closing = close(keeper, { force: false, drainMs: 30_000, change: { wanted: false } });
      await settle();
      if (isAnnounced) await deps.signal('connect');
      await expect(keeper.open({ isAnnounced })).resolves.toBe(deps.session);
      await deps.clock.advance(100);
      await closing;
      expect([keeper.live, deps.status]).toEqual([deps.session, 'CONNECTED']);
      expect(deps.refusedSignals).toEqual([]);
    },
  );

  it('a session lost while it drains is disconnected, and not opened again', async () => {
    const { deps, keeper } = await connected();
    deps.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000, change: { wanted: false } });
    await settle();
    deps.session.pending = 0;
    deps.session.lose();
    await deps.clock.advance(100);
    await closing;
    await deps.clock.advance(60_000);
    expect([deps.attempts, deps.status]).toEqual([1, 'DISCONNECTED']);
    expect(deps.refusedSignals).toEqual([]);
  });

  it('closing ends as soon as the last pending call ends', async () => {
    const { deps, keeper } = await connected();
    deps.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000 });
    await deps.clock.advance(1_000);
    deps.session.pending = 0;
    await deps.clock.advance(100);
    await closing;
    expect(deps.session.closeOptions).toEqual({ force: false });
  });

  it('opening during a drain keeps the session that is still open', async () => {
    const { deps, keeper } = await connected();
    deps.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000 });
    await settle();
    await expect(keeper.open()).resolves.toBe(deps.session);
    await deps.clock.advance(100);
    await closing;
    expect([keeper.isClosed, deps.status]).toEqual([false, 'CONNECTED']);
    expect(keeper.live).toBe(deps.session);
  });

  it('a session that ends while its row is being written is never given to a call', async () => {
    const deps = new World();
    let write = (): void => undefined;
    const signal = deps.signal.bind(deps);
    deps.signal = async (next) => {
      if (next === 'connected') await new Promise<void>((resolve) => (write = resolve));
      return signal(next);
    };
    const keeper = new SessionKeeper(deps);
    void keeper.open();
    await settle();
    deps.session.lose();
    await settle();
    expect(keeper.live).toBeUndefined();
    write();
    await settle();
    expect([deps.status, deps.signals.at(-1)]).toEqual(['ERROR', 'failed']);
    expect(deps.heard).toEqual(['lost']);
  });

  it('nothing runs after closing', async () => {
    const { deps, keeper } = await connected();
    deps.session.lose();
    await settle();
    await close(keeper, { force: true, drainMs: 0 });
    await deps.clock.advance(3_600_000);
    expect([deps.attempts, deps.status]).toEqual([1, 'DISCONNECTED']);
  });

  it('a session that does not answer is dropped and reopened', async () => {
    const { deps, keeper } = await connected();
    const [first] = deps.sessions;
    await keeper.drop('three health checks failed');
    expect(first?.closeOptions).toEqual({ force: true });
    await deps.clock.advance(1_000);
    expect(keeper.live).toBe(deps.sessions[1]);
    expect(deps.signals).toEqual(['connect', 'connected', 'failed', 'connect', 'connected']);
  });

  it('requests only transitions of the contract, whatever the order of events', async () => {
    const step = fc.oneof(
      fc.constantFrom('open', 'wake', 'lose', 'drop', 'fail next', 'refuse next', 'minute'),
      fc.integer({ min: 1, max: 20_000 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const deps = new World();
        const keeper = new SessionKeeper(deps);
        for (const next of steps) {
          if (typeof next === 'number') await deps.clock.advance(next);
          else if (next === 'minute') await deps.clock.advance(60_000);
          else if (next === 'open') keeper.open().catch(() => undefined);
          else if (next === 'wake') keeper.wake()?.catch(() => undefined);
          else if (next === 'lose') deps.sessions.at(-1)?.lose();
          else if (next === 'drop') await keeper.drop('because');
          else deps.outcomes.push(next === 'fail next' ? down() : new CredentialsRefused(403));
          await settle();
          const live = keeper.live !== undefined;
          expect(live).toBe(deps.status === 'CONNECTED');
        }
        expect(deps.refusedSignals).toEqual([]);
        await close(keeper, { force: true, drainMs: 0 });
        expect(['DISCONNECTED']).toContain(deps.status);
      }),
    );
  });
});
