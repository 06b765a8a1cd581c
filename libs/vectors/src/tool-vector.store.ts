import { Injectable } from '@nestjs/common';
import { Database } from '@app/platform';

export interface VectorRow {
  readonly toolId: number;
  readonly textHash: string;
  readonly vector: Float32Array;
}

/**
 * Vectors as rows: what an index is filled from, and what saves asking a model twice for one text.
 * Rows go with their tool (ON DELETE CASCADE).
 */
@Injectable()
export class ToolVectorStore {
  constructor(private readonly database: Database) {}

  async load(modelId: string, toolIds: readonly number[]): Promise<VectorRow[]> {
    const rows = await this.database.direct.query<
      { tool_id: number; text_hash: string; vector: Buffer }[]
    >(
      `SELECT tool_id, text_hash, vector FROM mcp.tool_vectors
       WHERE model_id = $1 AND tool_id = ANY($2::int[])`,
      [modelId, toolIds],
    );
    return rows.map((row) => ({
      toolId: row.tool_id,
      textHash: row.text_hash,
      // A copy, because a Float32Array must start at a multiple of four bytes.
      vector: new Float32Array(new Uint8Array(row.vector).buffer),
    }));
  }

  /** By tool: of which text the model's vector is. */
  async textHashes(modelId: string): Promise<ReadonlyMap<number, string>> {
    const rows = await this.database.direct.query<{ tool_id: number; text_hash: string }[]>(
      'SELECT tool_id, text_hash FROM mcp.tool_vectors WHERE model_id = $1',
      [modelId],
    );
    return new Map(rows.map((row) => [row.tool_id, row.text_hash]));
  }

  /** Tools that are gone meanwhile are left out. */
  async save(modelId: string, rows: readonly VectorRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.database.direct.query(
      `INSERT INTO mcp.tool_vectors (tool_id, model_id, text_hash, vector)
       SELECT new.tool_id, $1, new.text_hash, decode(new.vector, 'base64')
       FROM unnest($2::int[], $3::text[], $4::text[]) AS new (tool_id, text_hash, vector)
       JOIN mcp.tools t ON t.id = new.tool_id
       ON CONFLICT (tool_id, model_id)
       DO UPDATE SET text_hash = excluded.text_hash, vector = excluded.vector`,
      [
        modelId,
        rows.map((row) => row.toolId),
        rows.map((row) => row.textHash),
        rows.map(({ vector }) =>
          Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64'),
        ),
      ],
    );
  }

  /** Of these tools, those that have a row: another replica may have added what this one does not know yet. */
  async existing(toolIds: readonly number[]): Promise<ReadonlySet<number>> {
    const rows = await this.database.direct.query<{ id: number }[]>(
      'SELECT id FROM mcp.tools WHERE id = ANY($1::int[])',
      [toolIds],
    );
    return new Set(rows.map((row) => row.id));
  }

  /** Models that rows have vectors of, the one with the most first. */
  async modelIds(): Promise<string[]> {
    const rows = await this.database.direct.query<{ model_id: string }[]>(
      'SELECT model_id FROM mcp.tool_vectors GROUP BY 1 ORDER BY count(*) DESC, 1',
    );
    return rows.map((row) => row.model_id);
  }

  /** Vectors of models that are no longer in use. */
  async forgetOtherModels(modelId: string): Promise<void> {
    await this.database.direct.query('DELETE FROM mcp.tool_vectors WHERE model_id <> $1', [
      modelId,
    ]);
  }
}

/** As much of it as the vectors of tools need. */
export type VectorRows = Pick<
  ToolVectorStore,
  'load' | 'save' | 'existing' | 'modelIds' | 'forgetOtherModels'
>;
