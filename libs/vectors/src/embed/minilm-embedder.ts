import type { OnModuleDestroy } from '@nestjs/common';
import { Embedder } from './embedder.js';
import { MinilmThread, ThreadBusy } from './minilm-thread.js';
import type { StaticModel } from './static-model.js';
import { EmbeddingBusy, EmbeddingFailed } from '../vectors.errors.js';

/** The time grows with the length, and a tool's purpose is described at the beginning. */
const MAX_PIECES = 126;
/** Equal weights: the cosine of concatenated vectors is the mean of both cosines. */
const SHARE = Math.SQRT1_2;

/**
 * Concatenates the vectors of all-MiniLM-L6-v2 and of the static model: MiniLM models word order, the
 * static model keeps details of long queries (docs/decisions/0310).
 */
export class MinilmEmbedder extends Embedder implements OnModuleDestroy {
  readonly modelId: string;

  constructor(
    private readonly staticModel: StaticModel,
    private readonly thread: MinilmThread = new MinilmThread(),
  ) {
    super();
    this.modelId = `minilm-l6-v2-q8+${staticModel.id}`;
  }

  async embed(
    texts: readonly string[],
    signal?: AbortSignal,
    asker?: string,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const staticVectors = texts.map((text) => this.staticModel.embed(text));
    // Both models have the same vocabulary: a text unknown to one is unknown to the other.
    const known = texts.filter((_, i) => staticVectors[i] !== undefined);
    const vectors = await this.ask(known, signal, asker);
    let next = 0;
    return staticVectors.map((vector) => vector && concatenated(vectors[next++], vector));
  }

  onModuleDestroy(): Promise<void> {
    return this.thread.close();
  }

  private async ask(
    texts: readonly string[],
    signal: AbortSignal | undefined,
    asker: string | undefined,
  ): Promise<readonly Float32Array[]> {
    try {
      const pieces = texts.map((text) => this.staticModel.piecesOf(text).slice(0, MAX_PIECES));
      return await this.thread.embed(pieces, signal, asker);
    } catch (error) {
      if (error instanceof ThreadBusy) throw new EmbeddingBusy(this.modelId, error);
      const reason = error instanceof Error ? error.message : 'it cannot be used';
      throw new EmbeddingFailed(this.modelId, reason, error);
    }
  }
}

function concatenated(
  left: Float32Array | undefined,
  right: Float32Array,
): Float32Array | undefined {
  return left && Float32Array.from([...left, ...right], (value) => value * SHARE);
}
