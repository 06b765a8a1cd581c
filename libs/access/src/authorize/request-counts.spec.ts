import { RequestCounts } from './request-counts.js';

describe(RequestCounts.name, () => {
  let time = 0;
  const ask = (counts: RequestCounts, caller: string): { current: number; ttl: number } => {
    let answer = { current: 0, ttl: 0 };
    counts.incr(caller, (_error, result = answer) => void (answer = result), 60_000);
    return answer;
  };

  it('counts each caller separately until the window ends', () => {
    const counts = new RequestCounts({}, () => time);
    expect(ask(counts, 'a')).toEqual({ current: 1, ttl: 60_000 });
    time += 20_000;
    expect(ask(counts, 'a')).toEqual({ current: 2, ttl: 40_000 });
    expect(ask(counts, 'b')).toEqual({ current: 1, ttl: 60_000 });
    time += 40_000;
    expect(ask(counts, 'a')).toEqual({ current: 1, ttl: 60_000 });
  });

  it('ignores changes of the system clock', () => {
    const counts = new RequestCounts();
    const systemNow = Date.now;
    ask(counts, 'a');
    try {
      for (const hours of [1, -1]) {
        Date.now = () => systemNow() + hours * 3_600_000;
        const { current, ttl } = ask(counts, 'a');
        expect(current).toBeGreaterThan(1);
        expect(ttl).toBeLessThanOrEqual(60_000);
      }
    } finally {
      Date.now = systemNow;
    }
  });

  it('counts separately for each limit', () => {
    const counts = new RequestCounts({}, () => time);
    ask(counts, 'a');
    expect(ask(counts.child(), 'a').current).toBe(1);
  });
});
