import { atOnce } from '../work/slices.js';
import { sorting } from './sorting.js';

describe(sorting, () => {
  const list = Array.from({ length: 5_500 }, (_, i) => ({ key: (i * 7_919) % 100, i }));

  it('sorts like `toSorted`, equal ones in their order', () => {
    const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
    expect(atOnce(sorting(list, compare))).toEqual(list.toSorted(compare));
    expect(atOnce(sorting([], compare))).toEqual([]);
  });

  it('never compares more than a chunk between two yields', () => {
    let compared = 0;
    let most = 0;
    const work = sorting(list, (a, b) => {
      compared++;
      return a.key - b.key;
    });
    while (!work.next().done) {
      most = Math.max(most, compared);
      compared = 0;
    }
    expect(most).toBeLessThan(1_000 * Math.log2(1_000));
  });
});
