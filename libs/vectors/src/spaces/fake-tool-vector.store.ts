import type { VectorRow, VectorRows } from './tool-vector.store.js';

/** Rows in memory; `tools` are the ids that have a row in `mcp.tools`. */
export class FakeToolVectorStore implements VectorRows {
  tools: readonly number[] = [];
  private readonly rows = new Map<string, { modelId: string; row: VectorRow }>();

  modelIds(): Promise<string[]> {
    return Promise.resolve([...new Set([...this.rows.values()].map(({ modelId }) => modelId))]);
  }

  load(modelId: string, toolIds: readonly number[]): Promise<VectorRow[]> {
    return Promise.resolve(
      toolIds.flatMap((id) => {
        const found = this.rows.get(`${modelId} ${id}`);
        return found ? [found.row] : [];
      }),
    );
  }

  textHashes(modelId: string): Promise<ReadonlyMap<number, string>> {
    const own = [...this.rows.values()].filter((entry) => entry.modelId === modelId);
    return Promise.resolve(new Map(own.map(({ row }) => [row.toolId, row.textHash])));
  }

  save(modelId: string, rows: readonly VectorRow[]): Promise<void> {
    for (const row of rows) this.rows.set(`${modelId} ${row.toolId}`, { modelId, row });
    return Promise.resolve();
  }

  existing(toolIds: readonly number[]): Promise<ReadonlySet<number>> {
    return Promise.resolve(new Set(this.tools.filter((id) => toolIds.includes(id))));
  }

  forgetOtherModels(modelId: string | undefined): Promise<void> {
    for (const [key, entry] of this.rows) {
      if (entry.modelId !== modelId) this.rows.delete(key);
    }
    return Promise.resolve();
  }
}
