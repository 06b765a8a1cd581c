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
});
