import { jest } from '@jest/globals';
import { PendingCalls } from './pending-calls.js';
import { ConnectionLost } from './upstream.errors.js';

describe(PendingCalls.name, () => {
  let now = 0;
  let givenUp: unknown[];
  let calls: PendingCalls;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    now = performance.now();
    givenUp = [];
    calls = new PendingCalls((id) => givenUp.push(id));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const add = (
    id: number,
    options: Partial<Parameters<PendingCalls['add']>[2]> = {},
  ): Promise<unknown> =>
    new Promise((resolve, reject) => {
      calls.add(id, 'tools/call', { timeoutMs: 1_000, ...options }, { resolve, reject });
    });
  const elapsed = (): number => performance.now() - now;

  it('an answer goes to its own call, once', async () => {
    const one = add(1);
    const two = add(2);
    calls.resolve(2, { for: 'two' });
    calls.resolve(2, { for: 'nobody' });
    calls.resolve(3, { for: 'nobody' });
    calls.resolve(1, { for: 'one' });
    await expect(Promise.all([one, two])).resolves.toEqual([{ for: 'one' }, { for: 'two' }]);
    expect([calls.size, jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('a call without an answer ends at its deadline, and the server is told', async () => {
    const ended = expect(add(1)).rejects.toMatchObject({ kind: 'timeout' });
    jest.advanceTimersByTime(1_000);
    await ended;
    expect(givenUp).toEqual([1]);
  });

  it('progress starts the deadline anew, but not for ever', async () => {
    const ended = expect(add(1, { maxTotalMs: 3_000 })).rejects.toMatchObject({ kind: 'timeout' });
    while (calls.size > 0) {
      jest.advanceTimersByTime(500);
      calls.extend(1);
    }
    await ended;
    expect(elapsed()).toBe(3_000);
  });

  it('a call that waits for an answer to a question of the server goes on, but not for ever', async () => {
    const ended = expect(add(1, { maxTotalMs: 5_000 })).rejects.toMatchObject({ kind: 'timeout' });
    const call = calls.get(1);
    if (!call) throw new Error('unreachable');
    call.asking++;
    jest.advanceTimersByTime(4_999);
    expect(calls.size).toBe(1);
    jest.advanceTimersByTime(1);
    await ended;
  });

  it('a caller who goes away frees everything', async () => {
    const controller = new AbortController();
    const ended = expect(add(1, { signal: controller.signal })).rejects.toMatchObject({
      code: 'REQUEST_CANCELLED',
    });
    controller.abort();
    await ended;
    expect([givenUp, calls.size, jest.getTimerCount()]).toEqual([[1], 0, 0]);
  });

  it('the end of the session is the end of all calls', async () => {
    const lost = new ConnectionLost('it died', 'unknown');
    const ended = Promise.allSettled([add(1), add(2)]);
    calls.rejectAll(lost);
    expect(await ended).toEqual([
      { status: 'rejected', reason: lost },
      { status: 'rejected', reason: lost },
    ]);
    expect([givenUp, jest.getTimerCount()]).toEqual([[], 0]);
  });
});
