import { catalogueTool } from '../../../../test/support/catalogue.js';
import { ClassificationQueue } from './classification-queue.store.js';

describe(ClassificationQueue, () => {
  it('makes all tools due in parts, because a statement of the embedded database blocks the event loop', async () => {
    const ids = Array.from({ length: 2_500 }, (_, i) => i + 1);
    const written: number[][] = [];
    const tx = {
      query: async (sql: string, values: readonly unknown[]) => {
        if (sql.startsWith('SELECT')) return ids.map((id) => ({ id }));
        written.push(values.filter(Array.isArray).flat());
        return [];
      },
    };
    const nothing = {} as never;
    const queue = new ClassificationQueue(nothing, nothing, nothing, nothing);
    await queue.requeueAll(tx as never);
    expect(written.map((part) => part.length)).toEqual([1_000, 1_000, 500]);
    expect(written.flat()).toEqual(ids);
  });

  it('gives no withheld tool to the classifier, and none a second time until it is offered', async () => {
    const shown = catalogueTool({ id: 1, name: 'a.one', originalName: 'one' });
    const withheld = { hash: 'h', isNew: false, fields: [], findings: [] };
    const waiting = catalogueTool({ id: 2, name: 'a.two', originalName: 'two', withheld });
    const due = [shown, waiting].map(({ id, contentHash }) => ({
      id,
      lease: `${id}`,
      contentHash,
    }));
    const setAside: unknown[] = [];
    const direct = { query: async (_sql: string, values: unknown) => setAside.push(values) };
    const tx = { query: async () => due };
    const transaction = (work: (on: typeof tx) => unknown): unknown => work(tx);
    const queue = new ClassificationQueue(
      { background: { transaction, direct } } as never,
      { read: async () => [waiting] } as never,
      { current: { toolsById: new Map([[1, shown]]), servers: new Map() } } as never,
      {} as never,
    );
    expect((await queue.claim(10)).map(({ id }) => id)).toEqual([1]);
    expect(setAside).toEqual([[[2], ['2']]]);
  });
});
