import { denseDepth, fuse, rank, withClauses } from './ranking.js';

const scored = (...pairs: [number, number][]): { id: number; score: number }[] =>
  pairs.map(([id, score]) => ({ id, score }));

describe(fuse, () => {
  it('gives 1 to the tool that is first in both, and keeps scores in 0…1', () => {
    const fused = fuse({
      lexical: scored([1, 7.5], [2, 3]),
      dense: scored([1, 0.9], [3, 0.2]),
      depth: 20,
    });
    expect(fused.get(1)).toBeCloseTo(1);
    for (const score of fused.values()) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  it('uses the lexical score alone without vectors', () => {
    expect([...fuse({ lexical: scored([1, 8], [2, 4]), dense: undefined, depth: 20 })]).toEqual([
      [1, 1],
      [2, 0.5],
    ]);
    expect(fuse({ lexical: scored([1, 8]), dense: [], depth: 20 })).toEqual(new Map([[1, 1]]));
  });

  it('scales dense scores from the last tool within the depth', () => {
    const fused = fuse({ lexical: [], dense: scored([1, 0.9], [2, 0.8], [3, 0.7]), depth: 3 });
    expect(fused.get(2)).toBeCloseTo((fused.get(1) ?? 0) / 2);
    expect(fused.get(3)).toBe(0);
  });

  it('is empty when nothing was found', () => {
    expect(fuse({ lexical: [], dense: [], depth: 20 }).size).toBe(0);
  });
});

describe(denseDepth, () => {
  it('is a quarter of the tools, within limits', () => {
    expect([5, 400, 100_000].map(denseDepth)).toEqual([20, 100, 300]);
  });
});

describe(withClauses, () => {
  it('changes nothing without clauses', () => {
    const whole = new Map([[1, 0.4]]);
    expect(withClauses(whole, [])).toBe(whole);
  });

  it('raises what one clause matches', () => {
    const combined = withClauses(new Map([[1, 0.5]]), [new Map([[2, 1]]), new Map([[1, 0.5]])]);
    expect(combined.get(2)).toBeGreaterThan(combined.get(1) ?? 0);
    expect(combined.get(2)).toBeLessThanOrEqual(1);
  });
});

describe(rank, () => {
  const names = new Map([
    [1, 'b'],
    [2, 'a'],
    [3, 'c'],
  ]);

  it('orders by score, then name', () => {
    const scores = new Map([
      [1, 0.5],
      [2, 0.5],
      [3, 0.9],
    ]);
    expect(rank(scores, 0, (id) => names.get(id)).map(({ id }) => id)).toEqual([3, 2, 1]);
  });

  it('drops tools below the threshold and removed ones', () => {
    const scores = new Map([
      [1, 0.5],
      [2, 0.1],
      [9, 1],
    ]);
    expect(rank(scores, 0.3, (id) => names.get(id)).map(({ id }) => id)).toEqual([1]);
  });
});
