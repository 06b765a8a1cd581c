import { jest } from '@jest/globals';
import { KeepAlive } from './keep-alive.js';

describe(KeepAlive.name, () => {
  let keepAlive: KeepAlive;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    keepAlive = new KeepAlive();
  });
  afterEach(() => {
    keepAlive.close();
    jest.useRealTimers();
  });

  it('pings every stream at intervals, until it is removed', () => {
    const [one, other] = [{ ping: jest.fn() }, { ping: jest.fn() }];
    keepAlive.add(one);
    keepAlive.add(other);
    jest.advanceTimersByTime(14_999);
    expect(one.ping).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    keepAlive.remove(other);
    expect(keepAlive.size).toBe(1);
    jest.advanceTimersByTime(15_000);
    expect([one.ping, other.ping].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
  });

  it('pings a hundred streams in a turn of the event loop', async () => {
    let pinged = 0;
    for (let count = 0; count < 250; count++) keepAlive.add({ ping: () => (pinged += 1) });
    const pingedInTurns: number[] = [];
    jest.advanceTimersByTime(15_000);
    for (let turn = 0; turn < 3; turn++) {
      pingedInTurns.push(pinged);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(pingedInTurns).toEqual([100, 200, 250]);
  });

  it('pings no streams after it is closed', () => {
    const stream = { ping: jest.fn() };
    keepAlive.add(stream);
    keepAlive.close();
    jest.advanceTimersByTime(60_000);
    expect(stream.ping).not.toHaveBeenCalled();
  });
});
