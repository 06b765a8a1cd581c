import { createHash } from 'node:crypto';
import type { Embedder } from './embedder.js';
import type { SkillPayload } from './skill-payload.js';
import type { ToolVectorStore } from './tool-vector.store.js';
import type { VectorIndex, VectorPoint } from './vector-index.js';
import { blend } from './vector-math.js';
import { EmbeddingFailed } from './vectors.errors.js';

/** A skill as the vector index should know it. */
export interface SkillItem {
  /** What it says of itself. */
  readonly text: string;
  readonly payload: SkillPayload;
  readonly members: readonly SkillMember[];
}

export interface SkillMember {
  readonly toolId: number;
  readonly confidence: number;
}

const PROBE = 'a skill';

/**
 * Skills as points in the space of the tools: each lies where its tools do, weighted by confidence; one
 * without tools where its own text does. Derived from the rows whenever they differ.
 */
export class SkillVectors {
  private dimensions: number | undefined;

  constructor(
    private readonly embedder: Embedder,
    /** Undefined: nobody outside this process reads them. */
    private readonly index: VectorIndex | undefined,
    private readonly rows: Pick<ToolVectorStore, 'load' | 'textHashes'>,
  ) {}

  get isKept(): boolean {
    return this.index !== undefined;
  }

  /** Makes the index hold exactly these skills; throws when it has to be done again later. */
  async converge(items: readonly SkillItem[]): Promise<void> {
    if (!this.index) return;
    try {
      await this.write(items, this.index);
    } catch (error) {
      // The model may have become another.
      this.dimensions = undefined;
      throw error;
    }
  }

  private async write(items: readonly SkillItem[], index: VectorIndex): Promise<void> {
    await index.open(await this.size());
    const stored = await index.stored();
    const wanted = new Set(items.map(({ payload }) => payload.skill_id));
    await index.remove([...stored.keys()].filter((id) => !wanted.has(id)));
    const hashes = await this.rows.textHashes(this.embedder.modelId);
    const points: VectorPoint[] = [];
    for (const { text, payload, members } of items) {
      const known = members
        .filter(({ toolId }) => hashes.has(toolId))
        .toSorted((a, b) => a.toolId - b.toolId);
      const parts = known.map(({ toolId, confidence }) => [toolId, hashes.get(toolId), confidence]);
      const fingerprint = createHash('sha256')
        .update(JSON.stringify([this.embedder.modelId, text, payload, parts]))
        .digest('hex')
        .slice(0, 32);
      if (stored.get(payload.skill_id) === fingerprint) continue;
      const vector = await this.vectorOf(text, known);
      if (vector) points.push({ id: payload.skill_id, vector, payload, fingerprint });
    }
    if (points.length > 0) await index.upsert(points);
  }

  private async vectorOf(
    text: string,
    members: readonly SkillMember[],
  ): Promise<Float32Array | undefined> {
    const { modelId } = this.embedder;
    const rows = await this.rows.load(
      modelId,
      members.map(({ toolId }) => toolId),
    );
    const vectors = new Map(rows.map(({ toolId, vector }) => [toolId, vector]));
    const centre = blend(
      members.flatMap(({ toolId, confidence }) => {
        const vector = vectors.get(toolId);
        return vector?.length === this.dimensions ? [[vector, confidence] as const] : [];
      }),
    );
    return centre ?? (await this.embedder.embed([text]))[0];
  }

  private async size(): Promise<number> {
    if (this.dimensions === undefined) {
      const [probe] = await this.embedder.embed([PROBE]);
      if (!probe) throw new EmbeddingFailed(this.embedder.modelId, 'it answered no usable vector');
      this.dimensions = probe.length;
    }
    return this.dimensions;
  }
}
