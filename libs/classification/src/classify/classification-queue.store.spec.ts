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
});
