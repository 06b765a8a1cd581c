/**
 * Turns texts into unit vectors. Vectors of different models are never compared. A class, so that it can
 * be injected by type.
 */
export abstract class Embedder {
  /** Identifies the model; stored with every vector. */
  abstract readonly modelId: string;

  /**
   * One vector per text, in order; undefined for a text without a usable vector. Throws EmbeddingFailed when the model
   * cannot be used, and EmbeddingBusy when it works for others. `asker`: who waits for the texts, which take turns.
   */
  abstract embed(
    texts: readonly string[],
    signal?: AbortSignal,
    asker?: string,
  ): Promise<readonly (Float32Array | undefined)[]>;
}
