import { ConnectFailed, CredentialsRefused, type UpstreamSession } from '@app/mcp';
import { AppError } from '@app/platform';
import { nextStatus, type ServerStatus, type StatusSignal } from '@app/registry';
import fc from 'fast-check';
import { FakeClock, settle } from '../../../test/support/fake-clock.js';
import { FakeSession } from './fake-session.js';
import { type KeeperWorld, SessionKeeper } from './session-keeper.js';

class Misconfigured extends AppError {
  constructor() {
    super('a variable is not set', { kind: 'unavailable', code: 'SERVER_CONNECTION_FAILED' });
  }
}

/** Connects as `outcomes` say, then always with success; keeps the row as the registry would. */
class World implements KeeperWorld {
  readonly clock = new FakeClock();
  readonly healthIntervalS = 30;
  readonly sessions: FakeSession[] = [];
  readonly signals: StatusSignal[] = [];
  readonly refusedSignals: StatusSignal[] = [];
  readonly heard: string[] = [];
  attempts = 0;
  status: ServerStatus = 'DISCONNECTED';
  outcomes: (Error | 'hang')[] = [];

  random(): number {
    return 0.5; // no jitter
  }
  connect({ signal }: { signal: AbortSignal }): Promise<UpstreamSession> {
    this.attempts++;
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
  inLine<T>(work: () => Promise<T>): Promise<T> {
    return work();
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

/** As the pool does it. */
async function close(
  keeper: SessionKeeper,
  request: { force: boolean; drainMs: number },
): Promise<{ gone?: Promise<void> }> {
  if (!request.force && !(await keeper.drain(request.drainMs))) return {};
  const { written, gone } = keeper.end(request);
  await written;
  return { gone };
}

const down = (): Error => new ConnectFailed('it is down');
const times = (count: number): Error[] => Array.from({ length: count }, down);

async function connected(world = new World()): Promise<{ world: World; keeper: SessionKeeper }> {
  const keeper = new SessionKeeper(world);
  await keeper.open();
  return { world, keeper };
}

describe(SessionKeeper.name, () => {
  it('opens at the first attempt and says so', async () => {
    const { world, keeper } = await connected();
    expect(keeper.live).toBe(world.session);
    expect(world.signals).toEqual(['connect', 'connected']);
    expect(world.heard).toEqual(['opened']);
    expect(world.clock.nextWakeMs).toBeUndefined();
  });

  it('makes three attempts, 1 and 2 seconds apart, before it reports an error', async () => {
    const world = new World();
    world.outcomes = times(3);
    const keeper = new SessionKeeper(world);
    const opening = expect(keeper.open()).rejects.toThrow('it is down');
    await settle();
    expect([world.attempts, world.clock.nextWakeMs]).toEqual([1, 1_000]);
    await world.clock.advance(1_000);
    expect([world.attempts, world.clock.nextWakeMs]).toEqual([2, 2_000]);
    expect(world.status).toBe('CONNECTING');
    await world.clock.advance(2_000);
    await opening;
    expect([world.attempts, world.status]).toEqual([3, 'ERROR']);
  });

  it('never gives up: 4, 8, 16 s, then slower and slower up to 5 minutes', async () => {
    const world = new World();
    world.outcomes = times(16);
    const keeper = new SessionKeeper(world);
    const opening = keeper.open().catch(() => undefined);
    await world.clock.advance(3_000);
    await opening;
    const waits: number[] = [];
    while (keeper.live === undefined) {
      waits.push((world.clock.nextWakeMs ?? Number.NaN) / 1_000);
      await world.clock.advance(world.clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([4, 8, 16, 30, 60, 120, 240, ...Array<number>(7).fill(300)]);
    expect(world.status).toBe('CONNECTED');
  });

  it('opens again after a loss: 1, 2, 4, 8, 16 s', async () => {
    const { world, keeper } = await connected();
    await world.clock.advance(61_000);
    world.outcomes = times(5);
    world.session.lose();
    await settle();
    expect(world.status).toBe('ERROR');
    expect(keeper.live).toBeUndefined();
    const waits: number[] = [];
    while (keeper.live === undefined) {
      waits.push((world.clock.nextWakeMs ?? Number.NaN) / 1_000);
      await world.clock.advance(world.clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30]);
    expect(world.heard).toEqual(['opened', 'lost', 'opened']);
  });

  it('a session that holds a minute begins the waits anew, one that does not goes on with them', async () => {
    const { world } = await connected();
    const waits: (number | undefined)[] = [];
    for (const heldMs of [0, 1_000, 59_999, 60_000, 0]) {
      await world.clock.advance(heldMs);
      world.session.lose();
      await settle();
      waits.push(world.clock.nextWakeMs);
      await world.clock.advance(world.clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
  });

  it('200 calls at once share one attempt', async () => {
    const { world, keeper } = await connected();
    world.session.lose();
    await settle();
    const sessions = await Promise.all(Array.from({ length: 200 }, async () => keeper.wake()));
    expect(new Set(sessions)).toEqual(new Set([world.session]));
    expect(world.attempts).toBe(2);
  });

  it('a call does not wait for the backoff, but a dead server is not tried more often than its pause', async () => {
    const { world, keeper } = await connected();
    await world.clock.advance(60_000);
    world.outcomes = times(1_000);
    world.session.lose();
    await settle();
    await expect(keeper.wake()).rejects.toThrow('it is down');
    expect(keeper.wake()).toBeUndefined();
    for (let second = 0; second < 60; second++) {
      for (let call = 0; call < 10; call++) await keeper.wake()?.catch(() => undefined);
      await world.clock.advance(1_000);
    }
    expect(world.attempts).toBeLessThanOrEqual(25);
  });

  it('refused credentials are not tried again and again', async () => {
    const world = new World();
    world.outcomes = Array.from({ length: 100 }, () => new CredentialsRefused(401));
    const keeper = new SessionKeeper(world);
    await expect(keeper.open()).rejects.toThrow('refused');
    expect([world.attempts, world.status]).toEqual([1, 'ERROR']);
    expect(world.heard).toEqual(['refused']);
    expect(keeper.wake()).toBeUndefined();
    await world.clock.advance(3_600_000);
    expect(world.attempts).toBe(13);
  });

  it('credentials that are refused in mid-session are an error at once', async () => {
    const { world } = await connected();
    world.session.end({ reason: 'refused', cause: 'refused' });
    await settle();
    expect(world.status).toBe('ERROR');
    expect(world.heard).toEqual(['opened', 'lost', 'refused']);
    expect(world.clock.nextWakeMs).toBe(300_000);
  });

  it('a wrong configuration is not retried: only a person can mend it', async () => {
    const world = new World();
    world.outcomes = [new Misconfigured()];
    const keeper = new SessionKeeper(world);
    await expect(keeper.open()).rejects.toThrow('not set');
    expect([world.attempts, world.status, world.clock.nextWakeMs]).toEqual([1, 'ERROR', undefined]);
  });

  it('closing while it opens leaves no session behind', async () => {
    const world = new World();
    world.outcomes = ['hang'];
    const keeper = new SessionKeeper(world);
    const opening = expect(keeper.open()).rejects.toThrow();
    await settle();
    const { gone } = await close(keeper, { force: false, drainMs: 30_000 });
    await Promise.all([opening, gone]);
    expect([world.status, world.sessions.length, world.clock.nextWakeMs]).toEqual([
      'DISCONNECTED',
      0,
      undefined,
    ]);
  });

  it('closing waits for pending calls, refuses new ones, and stops waiting after its time', async () => {
    const { world, keeper } = await connected();
    world.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000 });
    await world.clock.advance(29_000);
    expect([world.status, keeper.live]).toEqual(['CONNECTED', undefined]);
    expect(keeper.wake()).toBeUndefined();
    await world.clock.advance(1_100);
    await closing;
    expect(world.status).toBe('DISCONNECTED');
    expect(world.session.closeOptions).toEqual({ force: true });
  });

  it('closing ends as soon as the last pending call does', async () => {
    const { world, keeper } = await connected();
    world.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000 });
    await world.clock.advance(1_000);
    world.session.pending = 0;
    await world.clock.advance(100);
    await closing;
    expect(world.session.closeOptions).toEqual({ force: false });
  });

  it('somebody who wants it back while it drains gets the session that is still there', async () => {
    const { world, keeper } = await connected();
    world.session.pending = 1;
    const closing = close(keeper, { force: false, drainMs: 30_000 });
    await settle();
    await expect(keeper.open()).resolves.toBe(world.session);
    await world.clock.advance(100);
    await closing;
    expect([keeper.isClosed, world.status]).toEqual([false, 'CONNECTED']);
    expect(keeper.live).toBe(world.session);
  });

  it('a session that dies while its row is being written is never given to a call', async () => {
    const world = new World();
    let write = (): void => undefined;
    const signal = world.signal.bind(world);
    world.signal = async (next) => {
      if (next === 'connected') await new Promise<void>((resolve) => (write = resolve));
      return signal(next);
    };
    const keeper = new SessionKeeper(world);
    void keeper.open();
    await settle();
    world.session.lose();
    await settle();
    expect(keeper.live).toBeUndefined();
    write();
    await settle();
    expect([world.status, world.signals.at(-1)]).toEqual(['ERROR', 'failed']);
    expect(world.heard).toEqual(['lost']);
  });

  it('after closing nothing happens any more', async () => {
    const { world, keeper } = await connected();
    world.session.lose();
    await settle();
    await close(keeper, { force: true, drainMs: 0 });
    await world.clock.advance(3_600_000);
    expect([world.attempts, world.status]).toEqual([1, 'DISCONNECTED']);
  });

  it('a session that does not answer is dropped and opened again', async () => {
    const { world, keeper } = await connected();
    const [first] = world.sessions;
    await keeper.drop('three health checks failed');
    expect(first?.closeOptions).toEqual({ force: true });
    await world.clock.advance(1_000);
    expect(keeper.live).toBe(world.sessions[1]);
    expect(world.signals).toEqual(['connect', 'connected', 'failed', 'connect', 'connected']);
  });

  it('whatever happens, it only asks for transitions of the contract', async () => {
    const step = fc.oneof(
      fc.constantFrom('open', 'wake', 'lose', 'drop', 'fail next', 'refuse next', 'minute'),
      fc.integer({ min: 1, max: 20_000 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const world = new World();
        const keeper = new SessionKeeper(world);
        for (const next of steps) {
          if (typeof next === 'number') await world.clock.advance(next);
          else if (next === 'minute') await world.clock.advance(60_000);
          else if (next === 'open') keeper.open().catch(() => undefined);
          else if (next === 'wake') keeper.wake()?.catch(() => undefined);
          else if (next === 'lose') world.sessions.at(-1)?.lose();
          else if (next === 'drop') await keeper.drop('because');
          else world.outcomes.push(next === 'fail next' ? down() : new CredentialsRefused(403));
          await settle();
          const live = keeper.live !== undefined;
          expect(live).toBe(world.status === 'CONNECTED');
        }
        expect(world.refusedSignals).toEqual([]);
        await close(keeper, { force: true, drainMs: 0 });
        expect(['DISCONNECTED']).toContain(world.status);
      }),
    );
  });
});
