import type { Tx } from '@app/platform';
import { ToolStore } from './tool.store.js';

/** A statement of the embedded database blocks the event loop until it ends. */
describe(ToolStore, () => {
  const ids = Array.from({ length: 400 }, (_, i) => i + 1);
  let written: number[][];
  const tx = {
    query: async (sql: string, values: readonly unknown[]) => {
      if (sql.startsWith('SELECT id')) return ids.map((id) => ({ id }));
      written.push(values.filter(Array.isArray).flat());
      return [];
    },
  } as unknown as Tx;
  const store = new ToolStore({} as never);
  beforeEach(() => {
    written = [];
  });

  it('renames the tools of a server in parts', async () => {
    await store.rename('server', 'name', tx);
    expect(written.map((part) => part.length)).toEqual([150, 150, 100]);
    expect(written.flat()).toEqual(ids);
  });

  it('takes a skill from tools in parts, and says from which', async () => {
    expect(await store.removeSkill('skill', tx)).toEqual(ids);
    expect(written.map((part) => part.length)).toEqual([150, 150, 100]);
  });
});
