import { jest } from '@jest/globals';
import { RawJsonObject } from '@app/platform';
import { PendingCalls } from './pending-calls.js';
import { ConnectionLost } from '../../upstream.errors.js';

describe(PendingCalls.name, () => {
  let now = 0;
  let givenUp: unknown[];
  let calls: PendingCalls;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    now = performance.now();
    givenUp = [];
    calls = new PendingCalls(({ id }) => givenUp.push(id));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const add = (
    options: Partial<Parameters<PendingCalls['add']>[1]> = {},
  ): { id: number; outcome: Promise<unknown> } => {
    let id = 0;
    const outcome = new Promise((resolve, reject) => {
      id = calls.add('tools/call', { timeoutMs: 1_000, ...options }, { resolve, reject });
    });
    return { id, outcome };
  };
  const answer = (text: string): RawJsonObject => RawJsonObject.of({ for: text });
  const elapsed = (): number => performance.now() - now;

  it('an answer goes to its own call, once', async () => {
    const one = add();
    const two = add();
    calls.resolve(two.id, answer('two'));
    calls.resolve(two.id, answer('stray'));
    calls.resolve(two.id + 1, answer('stray'));
    calls.resolve(one.id, answer('one'));
    await expect(Promise.all([one.outcome, two.outcome])).resolves.toEqual([
      answer('one'),
      answer('two'),
    ]);
    expect([calls.size, jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('a call without an answer ends at its deadline, and the server gets a cancellation', async () => {
    const { id, outcome } = add();
    const ended = expect(outcome).rejects.toMatchObject({ kind: 'timeout' });
    jest.advanceTimersByTime(1_000);
    await ended;
    expect(givenUp).toEqual([id]);
  });

  it('progress restarts the deadline, up to a maximum', async () => {
    const { id, outcome } = add({ maxTotalMs: 3_000 });
    const ended = expect(outcome).rejects.toMatchObject({ kind: 'timeout' });
    while (calls.size > 0) {
      jest.advanceTimersByTime(500);
      calls.extend(id);
    }
    await ended;
    expect(elapsed()).toBe(3_000);
  });

  it('a call that waits for input requested by the server stays open, up to a maximum', async () => {
    const { id, outcome } = add({ maxTotalMs: 5_000 });
    const ended = expect(outcome).rejects.toMatchObject({ kind: 'timeout' });
    const call = calls.get(id);
    if (!call) throw new Error('unreachable');
    call.asking++;
    jest.advanceTimersByTime(4_999);
    expect(calls.size).toBe(1);
    jest.advanceTimersByTime(1);
    await ended;
  });

  it('a call that waits for input ends after its timeout as soon as another client waits for it', async () => {
    const { id, outcome } = add({ maxTotalMs: 60_000 });
    const ended = expect(outcome).rejects.toMatchObject({ kind: 'timeout' });
    const call = calls.get(id);
    if (!call) throw new Error('unreachable');
    call.asking++;
    let isWaitedFor = false;
    calls.isWaitedFor = () => isWaitedFor;
    jest.advanceTimersByTime(10_000);
    expect(calls.size).toBe(1);
    isWaitedFor = true;
    jest.advanceTimersByTime(1_000);
    await ended;
  });

  it('cancellation by the caller releases everything', async () => {
    const controller = new AbortController();
    const { id, outcome } = add({ signal: controller.signal });
    const ended = expect(outcome).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    controller.abort();
    await ended;
    expect([givenUp, calls.size, jest.getTimerCount()]).toEqual([[id], 0, 0]);
  });

  it('the end of the session ends all calls', async () => {
    const lost = new ConnectionLost('it died', 'unknown');
    const ended = Promise.allSettled([add().outcome, add().outcome]);
    calls.rejectAll(() => lost);
    expect(await ended).toEqual([
      { status: 'rejected', reason: lost },
      { status: 'rejected', reason: lost },
    ]);
    expect([givenUp, jest.getTimerCount()]).toEqual([[], 0]);
  });

  const caller = (principal: string): { principal: string; client: object } => ({
    principal,
    client: {},
  });
  const ignored = { resolve: (): void => undefined, reject: (): void => undefined };

  it('progress extends a call to five times its timeout unless its caller sets a maximum', () => {
    const { outcome, id } = add();
    outcome.catch(() => undefined);
    while (calls.size > 0) {
      jest.advanceTimersByTime(500);
      calls.extend(id);
    }
    expect(elapsed()).toBe(5_000);
  });

  it('counts what was sent for users, not what the service sends for itself', () => {
    const own = [
      'ping',
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
    ];
    for (const method of [...own, 'tools/call', 'prompts/get']) {
      calls.add(method, { timeoutMs: 1_000 }, ignored);
    }
    expect([calls.size, calls.ofUsers]).toEqual([8, 2]);
  });

  it('knows the only call', () => {
    expect(calls.only()).toBeUndefined();
    const { id } = add();
    expect([calls.only()?.id, calls.has(id), calls.has(id + 1)]).toEqual([id, true, false]);
    add();
    expect(calls.only()).toBeUndefined();
  });

  it('knows the newest call of the only client', () => {
    expect([calls.ofOnlyClient(), calls.hasCallers()]).toEqual([undefined, false]);
    add();
    expect([calls.ofOnlyClient(), calls.hasCallers()]).toEqual([undefined, false]);
    const ada = caller('ada');
    add({ caller: ada });
    const { id } = add({ caller: ada });
    add();
    expect([calls.ofOnlyClient()?.id, calls.hasCallers()]).toEqual([id, true]);
    expect([calls.hasOthersThan(ada.client), calls.hasOthersThan({})]).toEqual([false, true]);
    add({ caller: caller('bob') });
    expect([calls.ofOnlyClient(), calls.hasOthersThan(ada.client)]).toEqual([undefined, true]);
  });

  it('knows the newest call after others have ended', () => {
    const ada = caller('ada');
    const ids = Array.from({ length: 200 }, () => add({ caller: ada }).id);
    for (const id of ids.slice(0, 150)) calls.resolve(id, answer('one'));
    const newest = Array.from({ length: 20 }, () => add({ caller: ada }).id).at(-1);
    expect(calls.ofOnlyClient()?.id).toBe(newest);
  });

  it('reports the end of each call, for any reason, once', async () => {
    let ended = 0;
    calls.onEnded = () => ended++;
    const [one, two, three, four] = [add(), add(), add(), add()];
    calls.resolve(one.id, answer('one'));
    calls.resolve(one.id, answer('one'));
    calls.reject(two.id, new Error('two'));
    calls.reject(two.id, new Error('two'));
    calls.giveUp(three.id, new Error('three'));
    calls.giveUp(three.id, new Error('three'));
    expect(ended).toBe(3);
    expect(calls.detach(four.id)?.id).toBe(four.id);
    expect(calls.detach(four.id)).toBeUndefined();
    expect([ended, givenUp]).toEqual([4, [three.id]]);
    await expect(two.outcome).rejects.toThrow('two');
    await expect(three.outcome).rejects.toThrow('three');
  });

  it('detaches a call without a listener for its end', () => {
    const { id } = add();
    expect(calls.detach(id)?.id).toBe(id);
  });

  it('a large answer is delivered in a turn of its own', async () => {
    jest.useRealTimers();
    const { id, outcome } = add();
    let delivered = false;
    void outcome.then(() => (delivered = true));
    const large = RawJsonObject.of({ text: 'x'.repeat(5_000_000) });
    calls.resolve(id, large);
    await Promise.resolve();
    expect(delivered).toBe(false);
    await expect(outcome).resolves.toBe(large);
  });

  it('an ended call does not listen for its cancellation any more', () => {
    const listeners = new Set<string>();
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: (type: string, _listener: unknown, options: { once?: boolean }) =>
        listeners.add(`${type} ${options.once}`),
      removeEventListener: (type: string) => listeners.delete(`${type} true`),
    };
    const { id } = add({ signal: signal as unknown as AbortSignal });
    expect([...listeners]).toEqual(['abort true']);
    calls.resolve(id, answer('one'));
    expect([...listeners]).toEqual([]);
  });

  it('ids cannot be guessed where all answers share one stream', () => {
    const stepsOf = (guessableIds: boolean): Set<number> => {
      const one = new PendingCalls(() => undefined, { guessableIds });
      const ids = Array.from({ length: 100 }, () => one.nextId());
      return new Set(ids.slice(1).map((id, i) => id - (ids[i] ?? 0)));
    };
    expect(stepsOf(true)).toEqual(new Set([1]));
    expect(stepsOf(false).size).toBeGreaterThan(50);
    expect(Math.min(...stepsOf(false))).toBeGreaterThan(0);
  });
});
