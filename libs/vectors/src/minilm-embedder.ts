import type { OnModuleDestroy } from '@nestjs/common';
import { Embedder } from './embedder.js';
import { MinilmThread } from './minilm-thread.js';
import type { StaticModel } from './static-model.js';
import { EmbeddingFailed } from './vectors.errors.js';

/** What a tool is for stands at its beginning, and time grows with length. */
const MAX_PIECES = 126;
/** Both models count the same: the cosine of joined vectors is the mean of both cosines. */
const SHARE = Math.SQRT1_2;

/**
 * all-MiniLM-L6-v2 beside the static model, as one vector: MiniLM knows what words mean together,
 * the static model keeps what a long query says in passing (docs/decisions/0310).
 */
export class MinilmEmbedder extends Embedder implements OnModuleDestroy {
  readonly modelId: string;

  constructor(
    private readonly beside: StaticModel,
    private readonly thread: MinilmThread = new MinilmThread(),
  ) {
    super();
    this.modelId = `minilm-l6-v2-q8+${beside.id}`;
  }

  async embed(
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const beside = texts.map((text) => this.beside.embed(text));
    // The same word pieces: a text that one has nothing to say about, the other has neither.
    const known = texts.filter((_, i) => beside[i] !== undefined);
    const vectors = await this.ask(known, signal);
    let next = 0;
    return beside.map((vector) => vector && joined(vectors[next++], vector));
  }

  onModuleDestroy(): Promise<void> {
    return this.thread.close();
  }

  private async ask(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    try {
      const pieces = texts.map((text) => this.beside.piecesOf(text).slice(0, MAX_PIECES));
      return await this.thread.embed(pieces, signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it cannot be asked';
      throw new EmbeddingFailed(this.modelId, reason, error);
    }
  }
}

function joined(left: Float32Array | undefined, right: Float32Array): Float32Array | undefined {
  return left && Float32Array.from([...left, ...right], (value) => value * SHARE);
}
