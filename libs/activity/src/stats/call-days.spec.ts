import { CallDays, type CountedCall } from './call-days.js';

const DAY_S = 86_400;
const BUCKET = 7;
const call = (serverId = 'a', tool = 'x'): CountedCall => ({
  serverId,
  tool,
  milliseconds: 1,
  isError: true,
});

describe(CallDays.name, () => {
  let days: CallDays;
  beforeEach(() => {
    days = new CallDays();
  });

  const counted = (): unknown =>
    days.waiting.map(({ day, serverId, tool, calls, errors, latency }) => [
      day,
      `${serverId}.${tool}`,
      calls,
      errors,
      latency[BUCKET],
    ]);

  it('has one entry for each tool and day after a failed write and further calls', () => {
    days.add(call(), DAY_S, BUCKET);
    const taken = days.take();
    days.add(call(), DAY_S, BUCKET);
    days.add(call('b'), DAY_S, BUCKET);
    days.putBack(taken);
    days.add(call(), DAY_S, BUCKET);
    expect(counted()).toEqual([
      [1, 'a.x', 3, 3, 3],
      [1, 'b.x', 1, 1, 1],
    ]);
  });

  it('has one entry for each tool and day after the clock went forth and back', () => {
    days.add(call(), DAY_S, BUCKET);
    days.add(call(), 2 * DAY_S, BUCKET);
    const taken = days.take();
    days.add(call(), DAY_S, BUCKET);
    days.putBack(taken);
    days.add(call(), 2 * DAY_S, BUCKET);
    expect(counted()).toEqual([
      [1, 'a.x', 2, 2, 2],
      [2, 'a.x', 2, 2, 2],
    ]);
  });

  it('still counts the tools that it has when there is no place for others', () => {
    for (let n = 0; n < 20_000; n++) days.add(call('a', `${n}`), DAY_S, BUCKET);
    const taken = days.take();
    for (let n = 0; n < 20_000; n++) days.add(call('a', `${n}`), DAY_S, BUCKET);
    days.putBack(taken);
    days.add(call('a', 'further'), DAY_S, BUCKET);
    expect(days.waiting).toHaveLength(20_000);
    expect(days.waiting.every(({ calls }) => calls === 2)).toBe(true);
  });

  it('forgets the calls of a server on every day', () => {
    for (const day of [1, 2]) {
      days.add(call('a'), day * DAY_S, BUCKET);
      days.add(call('b'), day * DAY_S, BUCKET);
    }
    days.forgetServer('a');
    expect(counted()).toEqual([
      [1, 'b.x', 1, 1, 1],
      [2, 'b.x', 1, 1, 1],
    ]);
  });
});
