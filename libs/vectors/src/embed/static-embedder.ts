import { inSlices, type Sliced } from '@app/platform';
import { Embedder } from './embedder.js';
import type { StaticModel } from './static-model.js';

/** The built-in model: always available, and no text leaves the process. */
export class StaticEmbedder extends Embedder {
  readonly modelId: string;

  constructor(private readonly model: StaticModel) {
    super();
    this.modelId = model.id;
  }

  embed(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]> {
    return inSlices(this.embedding(texts));
  }

  private *embedding(texts: readonly string[]): Sliced<(Float32Array | undefined)[]> {
    const vectors: (Float32Array | undefined)[] = [];
    for (const text of texts) {
      yield;
      vectors.push(this.model.embed(text));
    }
    return vectors;
  }
}
