import { Embedder } from './embedder.js';
import type { StaticModel } from './static-model.js';

/** The model inside this process: always there, nothing leaves the machine. */
export class StaticEmbedder extends Embedder {
  readonly modelId: string;

  constructor(private readonly model: StaticModel) {
    super();
    this.modelId = model.id;
  }

  embed(texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]> {
    return Promise.resolve(texts.map((text) => this.model.embed(text)));
  }
}
