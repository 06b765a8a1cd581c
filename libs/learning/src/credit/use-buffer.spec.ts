import { UseBuffer } from './use-buffer.js';

const VIEW = 'view';
const vector = Float32Array.from([1, 0]);
const use = (caller: string, toolId: number) => ({ caller, toolId, viewId: VIEW, vector });

describe(UseBuffer, () => {
  it('sums up the uses of a tool by a caller', () => {
    const buffer = new UseBuffer();
    buffer.add(use('ada', 1));
    buffer.add({ ...use('ada', 1), vector: Float32Array.from([0, 1]) });
    buffer.add(use('bob', 1));
    expect(buffer.take()).toEqual([
      {
        caller: 'ada',
        toolId: 1,
        viewId: VIEW,
        uses: { count: 2, mean: Float32Array.from([0.5, 0.5]) },
      },
      { caller: 'bob', toolId: 1, viewId: VIEW, uses: { count: 1, mean: vector } },
    ]);
    expect(buffer.isEmpty).toBe(true);
  });

  it('is bounded for each caller and for all', () => {
    const buffer = new UseBuffer();
    for (let tool = 0; tool < 1_000; tool++) buffer.add(use('busy', tool));
    buffer.add(use('quiet', 1));
    expect(buffer.take()).toHaveLength(401);
    for (let caller = 0; caller < 20; caller++) {
      for (let tool = 0; tool < 400; tool++) buffer.add(use(`caller ${caller}`, tool));
    }
    expect(buffer.take()).toHaveLength(4_000);
  });

  it('takes back what could not be stored, beside what came since', () => {
    const buffer = new UseBuffer();
    buffer.add(use('ada', 1));
    const taken = buffer.take();
    buffer.add(use('ada', 1));
    buffer.putBack(taken);
    expect(buffer.take()).toMatchObject([{ uses: { count: 2 } }]);
  });

  it('forgets a tool', () => {
    const buffer = new UseBuffer();
    buffer.add(use('ada', 1));
    buffer.add(use('ada', 2));
    buffer.forgetTool(1);
    expect(buffer.take()).toMatchObject([{ toolId: 2 }]);
  });
});
