import { Injectable } from '@nestjs/common';
import { Database, isForeignKeyViolation } from '@app/platform';
import { bytesOf, vectorIn } from '../indexes/vector-math.js';

const ROWS_PER_SLICE = 500;

export interface VectorRow {
  readonly toolId: number;
  readonly textHash: string;
  readonly vector: Float32Array;
}

/**
 * The rows of `mcp.tool_vectors`, from which an index is filled without calling the model again. They are
 * deleted with their tool (ON DELETE CASCADE).
 */
@Injectable()
export class ToolVectorStore {
  constructor(private readonly database: Database) {}

  async load(modelId: string, toolIds: readonly number[]): Promise<VectorRow[]> {
    const rows = await this.database.background.direct.query<
      { tool_id: number; text_hash: string; vector: Buffer }[]
    >(
      `SELECT tool_id, text_hash, vector FROM mcp.tool_vectors
       WHERE model_id = $1 AND tool_id = ANY($2::int[])`,
      [modelId, toolIds],
    );
    return rows.map((row) => ({
      toolId: row.tool_id,
      textHash: row.text_hash,
      vector: vectorIn(row.vector),
    }));
  }

  /** By tool id: the hash of the text that was embedded. */
  async textHashes(modelId: string): Promise<ReadonlyMap<number, string>> {
    const rows = await this.database.background.direct.query<
      { tool_id: number; text_hash: string }[]
    >('SELECT tool_id, text_hash FROM mcp.tool_vectors WHERE model_id = $1', [modelId]);
    return new Map(rows.map((row) => [row.tool_id, row.text_hash]));
  }

  /** Skips tools that have been removed. */
  async save(modelId: string, rows: readonly VectorRow[]): Promise<void> {
    if (rows.length === 0) return;
    try {
      await this.write(modelId, rows);
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      const half = Math.ceil(rows.length / 2);
      if (half === rows.length) return; // the one that is gone
      await this.save(modelId, rows.slice(0, half));
      await this.save(modelId, rows.slice(half));
    }
  }

  private async write(modelId: string, rows: readonly VectorRow[]): Promise<void> {
    await this.database.background.direct.query(
      `INSERT INTO mcp.tool_vectors (tool_id, model_id, text_hash, vector)
       SELECT new.tool_id, $1, new.text_hash, decode(new.vector, 'base64')
       FROM unnest($2::int[], $3::text[], $4::text[]) AS new (tool_id, text_hash, vector)
       ON CONFLICT (tool_id, model_id)
       DO UPDATE SET text_hash = excluded.text_hash, vector = excluded.vector`,
      [
        modelId,
        rows.map((row) => row.toolId),
        rows.map((row) => row.textHash),
        rows.map(({ vector }) => bytesOf(vector).toString('base64')),
      ],
    );
  }

  /** Those of the tools that have a row; another replica may have added them. */
  async existing(toolIds: readonly number[]): Promise<ReadonlySet<number>> {
    const rows = await this.database.background.direct.query<{ id: number }[]>(
      'SELECT DISTINCT tool_id AS id FROM mcp.tool_vectors WHERE tool_id = ANY($1::int[])',
      [toolIds],
    );
    return new Set(rows.map((row) => row.id));
  }

  /** Models with vectors, the one with the most rows first. */
  async modelIds(): Promise<string[]> {
    const rows = await this.database.background.direct.query<{ model_id: string }[]>(
      'SELECT model_id FROM mcp.tool_vectors GROUP BY 1 ORDER BY count(*) DESC, 1',
    );
    return rows.map((row) => row.model_id);
  }

  /** Deletes vectors of all other models, all of them without one; in slices, which block the embedded database shortly. */
  async forgetOtherModels(modelId: string | undefined): Promise<void> {
    if ((await this.modelIds()).every((id) => id === modelId)) return;
    let last = { tool_id: 0, model_id: '' };
    for (;;) {
      const page = await this.database.background.direct.query<(typeof last)[]>(
        `WITH page AS (
           SELECT tool_id, model_id FROM mcp.tool_vectors
           WHERE (tool_id, model_id) > ($1::int, $2::text) ORDER BY tool_id, model_id LIMIT ${ROWS_PER_SLICE}
         ), gone AS (
           DELETE FROM mcp.tool_vectors AS one USING page
           WHERE one.tool_id = page.tool_id AND one.model_id = page.model_id AND page.model_id IS DISTINCT FROM $3
         )
         SELECT tool_id, model_id FROM page ORDER BY tool_id DESC, model_id DESC LIMIT 1`,
        [last.tool_id, last.model_id, modelId ?? null],
      );
      const [reached] = page;
      if (!reached) return;
      last = reached;
    }
  }
}

/** What ToolVectors needs of the store. */
export type VectorRows = Pick<
  ToolVectorStore,
  'load' | 'save' | 'existing' | 'modelIds' | 'forgetOtherModels'
>;
