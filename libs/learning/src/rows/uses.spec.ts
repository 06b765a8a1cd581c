import { added, faded, liftOf, MAX_OF_CALLER, together, trustIn, type Uses } from './uses.js';

const DAY_MS = 86_400_000;
const at = (days: number): Date => new Date(days * DAY_MS);
const uses = (count: number, ...mean: number[]): Uses => ({ count, mean: Float32Array.from(mean) });

describe('uses of a tool', () => {
  it('are remembered as the mean of their queries', () => {
    const sum = [uses(1, 1, 0), uses(1, 0, 1), uses(2, 0, 1)].reduce(added);
    expect(sum.count).toBe(4);
    expect([...sum.mean]).toEqual([0.25, 0.75]);
  });

  it('of one caller count no more than the limit, and later ones still move the mean', () => {
    let own = uses(1, 1, 0);
    for (let i = 0; i < 1_000; i++) own = added(own, uses(1, 0, 1));
    expect(own.count).toBe(MAX_OF_CALLER);
    expect(own.mean[1]).toBeCloseTo(1, 3);
    expect(added(undefined, uses(1_000, 1, 0)).count).toBe(MAX_OF_CALLER);
  });

  it('of several callers are weighed by their number', () => {
    const all = together([uses(5, 1, 0), uses(1, 0, 1)]);
    expect(all.count).toBe(6);
    expect(all.mean[0]).toBeCloseTo(5 / 6);
  });

  it('of a caller at the limit stay a part of those of others', () => {
    const honest = [uses(5, 1, 0), uses(5, 1, 0), uses(5, 1, 0)];
    const poisoned = together([...honest, added(undefined, uses(10_000, 0, 1))]);
    expect(poisoned.mean[1]).toBeCloseTo(1 / 4);
  });

  it('fade by whole days, to a half in two months', () => {
    expect(faded(uses(4, 1), at(0), at(60)).count).toBeCloseTo(2);
    const morning = new Date(60 * DAY_MS + 1);
    const night = new Date(61 * DAY_MS - 1);
    expect(faded(uses(4, 1), at(0), morning)).toEqual(faded(uses(4, 1), at(0), night));
    expect(faded(uses(4, 1), at(0), at(0)).count).toBe(4);
  });

  it('do not grow when the clock of another replica is ahead', () => {
    expect(faded(uses(4, 1), at(2), at(1)).count).toBe(4);
  });

  it('without a count have no direction', () => {
    expect([...together([uses(0, 1, 1)]).mean]).toEqual([0, 0]);
  });
});

describe(trustIn, () => {
  it('grows with the uses and stays below 1', () => {
    const trusts = [0, 1, 2, 5, 10, 1_000].map(trustIn);
    expect(trusts).toEqual(trusts.toSorted((a, b) => a - b));
    expect(trusts[0]).toBe(0);
    expect(trusts.at(-1)).toBeLessThan(1);
  });
});

describe(liftOf, () => {
  it('brings a tool nearer to queries like those it was used for', () => {
    expect(liftOf(0.1, 0.8, 0.5)).toBeGreaterThan(0);
  });

  it('never takes a tool away from a query, nor nearer to it than its uses are', () => {
    for (const own of [-1, -0.2, 0, 0.3, 0.9, 1]) {
      for (const used of [-1, -0.2, 0, 0.3, 0.9, 1]) {
        for (const trust of [0, 0.3, 1]) {
          const lift = liftOf(own, used, trust);
          expect(lift).toBeGreaterThanOrEqual(0);
          expect(own + lift).toBeLessThanOrEqual(Math.max(own, used));
        }
      }
    }
  });
});
