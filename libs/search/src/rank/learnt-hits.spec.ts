import type { Hits } from './ranking.js';
import { staticCosines, withLifts } from './learnt-hits.js';

const hits: Hits = {
  lexical: [],
  dense: [
    { id: 1, score: 0.5 },
    { id: 2, score: 0.4 },
    { id: 3, score: 0.3 },
  ],
  depth: 3,
};
const all = (): boolean => true;

describe(withLifts, () => {
  it('moves a tool by its lift, and keeps what it added', () => {
    const lifted = withLifts(hits, [{ toolId: 3, own: 0.3, lift: 0.3 }], 1, all);
    expect(lifted.dense?.map(({ id }) => id)).toEqual([3, 1, 2]);
    expect(lifted.dense?.[0]?.score).toBeCloseTo(0.6);
    expect(lifted.lifts?.get(3)).toBeCloseTo(0.3);
  });

  it('brings in a tool that was not among the hits, if it gets among them', () => {
    const lift = (toolId: number, by: number) => ({ toolId, own: 0.1, lift: by });
    const lifted = withLifts(hits, [lift(8, 0.35), lift(9, 0.1)], 1, all);
    expect(lifted.dense?.map(({ id }) => id)).toEqual([1, 8, 2]);
  });

  it('adds nothing to a text of the view that is nearer already', () => {
    expect(withLifts(hits, [{ toolId: 1, own: 0.1, lift: 0.3 }], 1, all)).toBe(hits);
  });

  it('moves no tool that is out of scope', () => {
    expect(withLifts(hits, [{ toolId: 3, own: 0.3, lift: 1 }], 1, (id) => id !== 3)).toBe(hits);
  });

  it('leaves the hits alone where nothing was learnt, and without vectors', () => {
    expect(withLifts(hits, [], 1, all)).toBe(hits);
    const without: Hits = { ...hits, dense: undefined };
    expect(withLifts(without, [{ toolId: 3, own: 0, lift: 1 }], 1, all)).toBe(without);
  });

  it('adds the half of a lift to scores of another model', () => {
    const lifted = withLifts(hits, [{ toolId: 2, own: 0.2, lift: 0.4 }], 0.5, all);
    expect(lifted.dense?.[0]).toMatchObject({ id: 2 });
    expect(lifted.dense?.[0]?.score).toBeCloseTo(0.6);
  });
});

describe(staticCosines, () => {
  const lift = { toolId: 2, own: 0.1, lift: 0.5 };

  it('are those of the hits, lifts and all, if the static model searched', () => {
    const lifted = withLifts(hits, [lift], 1, all);
    const cosines = staticCosines(lifted, [lift], 1);
    expect(cosines.get(1)).toBe(0.5);
    expect(cosines.get(2)).toBeCloseTo(0.6);
  });

  it('are those of tools that were learnt about, if another model searched, whose hits have another scale', () => {
    const cosines = staticCosines(withLifts(hits, [lift], 0.5, all), [lift], 0.5);
    expect([...cosines]).toEqual([[2, 0.6]]);
  });
});
