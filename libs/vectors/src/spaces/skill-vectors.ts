import { createHash } from 'node:crypto';
import type { Embedder } from '../embed/embedder.js';
import type { SkillPayload } from './skill-payload.js';
import type { ToolVectorStore } from './tool-vector.store.js';
import type { VectorIndex, VectorPoint } from '../indexes/vector-index.js';
import { blend } from '../indexes/vector-math.js';
import { EmbeddingFailed } from '../vectors.errors.js';

/** A skill as it is written to the vector index. */
export interface SkillItem {
  /** Embedded if no tool of the skill has a vector. */
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
 * The vectors of skills: the mean of the vectors of their tools, weighted by confidence, or the vector of
 * their own text if they have no tools. Written when the rows differ.
 */
export class SkillVectors {
  private dimensions: number | undefined;

  constructor(
    private readonly embedder: Embedder,
    /** Undefined: skills are not written, because only Qdrant is read by other programs. */
    private readonly index: VectorIndex | undefined,
    private readonly rows: Pick<ToolVectorStore, 'load' | 'textHashes'>,
  ) {}

  get isKept(): boolean {
    return this.index !== undefined;
  }

  /** Makes the index equal to these skills; throws if that must be retried. */
  async converge(items: readonly SkillItem[]): Promise<void> {
    if (!this.index) return;
    try {
      await this.write(items, this.index);
    } catch (error) {
      // The model may have changed.
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
      if (!probe) throw new EmbeddingFailed(this.embedder.modelId, 'it returned no usable vector');
      this.dimensions = probe.length;
    }
    return this.dimensions;
  }
}
