import { jest } from '@jest/globals';
import { inTime } from './in-time.js';

describe(inTime.name, () => {
  const never = new Promise<void>(() => undefined);
  const limit = { ms: 1_000, reason: 'too late' };

  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('fails at the deadline with the reason', async () => {
    const ended = expect(inTime(never, limit)).rejects.toThrow('Connecting failed: too late');
    await jest.advanceTimersByTimeAsync(999);
    expect(jest.getTimerCount()).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    await ended;
  });

  it('ends with its work', async () => {
    const { signal } = new AbortController();
    const remove = jest.spyOn(signal, 'removeEventListener');
    await inTime(Promise.resolve(), { ...limit, signal });
    await expect(inTime(Promise.reject(new Error('no')), limit)).rejects.toThrow('no');
    expect(remove).toHaveBeenCalledWith('abort', expect.any(Function));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fails when it is no longer wanted', async () => {
    const controller = new AbortController();
    const work = inTime(never, { ...limit, signal: controller.signal });
    controller.abort();
    await expect(work).rejects.toThrow('Connecting failed: it is no longer wanted');
  });
});
