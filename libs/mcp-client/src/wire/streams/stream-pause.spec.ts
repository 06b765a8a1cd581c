import { jest } from '@jest/globals';
import { pauseBeforeStream } from './stream-pause.js';

describe(pauseBeforeStream.name, () => {
  let over: boolean;
  let closing: AbortController;

  beforeEach(() => {
    jest.useFakeTimers();
    over = false;
    closing = new AbortController();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const pause = (ms: number): void => {
    const { signal } = closing;
    void pauseBeforeStream(ms, { leastMs: 100, closing: signal }).then(() => (over = true));
  };

  it.each([
    ['as long as asked', 200, 200],
    ['no less than the least time', 5, 100],
    ['half a minute at most', 60_000, 30_000],
  ])('lasts %s', async (_, asked, ms) => {
    pause(asked);
    await jest.advanceTimersByTimeAsync(ms - 1);
    expect(over).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(over).toBe(true);
  });

  it('ends when the wire is closed', async () => {
    pause(200);
    closing.abort();
    await jest.advanceTimersByTimeAsync(0);
    expect([over, jest.getTimerCount()]).toEqual([true, 0]);
  });

  it('does not begin when the wire is closed already', async () => {
    closing.abort();
    pause(200);
    await jest.advanceTimersByTimeAsync(0);
    expect([over, jest.getTimerCount()]).toEqual([true, 0]);
  });
});
