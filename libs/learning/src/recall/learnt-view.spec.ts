import { LearntView } from './learnt-view.js';

const DIMENSIONS = 16;
const axis = (i: number): Float32Array => {
  const vector = new Float32Array(DIMENSIONS);
  vector[i] = 1;
  return vector;
};

describe(LearntView, () => {
  it('lifts a tool for queries like those it was used for, and for no others', () => {
    const view = new LearntView(DIMENSIONS);
    view.set(7, { count: 5, mean: axis(1) }, axis(0));
    expect(view.lifts(axis(1))).toMatchObject([{ toolId: 7, own: 0 }]);
    expect(view.lifts(axis(0))).toEqual([]);
    expect(view.lifts(axis(2))).toEqual([]);
  });

  it('trusts many uses more than one', () => {
    const view = new LearntView(DIMENSIONS);
    view.set(1, { count: 1, mean: axis(1) }, axis(0));
    view.set(2, { count: 5, mean: axis(1) }, axis(0));
    const [one, five] = view.lifts(axis(1));
    expect(five?.lift).toBeGreaterThan(one?.lift ?? 1);
  });

  it('replaces, describes again and removes a tool without touching the others', () => {
    const view = new LearntView(DIMENSIONS);
    for (let tool = 0; tool < 5; tool++) view.set(tool, { count: 5, mean: axis(tool) }, axis(9));
    view.set(1, { count: 5, mean: axis(8) }, axis(9));
    view.describe(2, axis(2));
    view.remove(0);
    view.remove(77);
    const lifted = (i: number): number[] => view.lifts(axis(i)).map(({ toolId }) => toolId);
    expect([0, 1, 2, 3, 4, 8].map(lifted)).toEqual([[], [], [], [3], [4], [1]]);
    expect(view.size).toBe(4);
    view.remove(4);
    view.remove(3);
    expect(lifted(8)).toEqual([1]);
  });

  it('ignores vectors of another size and without a direction', () => {
    const view = new LearntView(DIMENSIONS);
    view.set(1, { count: 5, mean: new Float32Array(DIMENSIONS) }, axis(0));
    view.set(2, { count: 5, mean: new Float32Array(3) }, axis(0));
    expect(view.size).toBe(0);
  });
});
