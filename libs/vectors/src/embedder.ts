/**
 * Turns texts into vectors of length 1. Vectors of different models live in different spaces and are
 * never compared. A class, so that it can be injected by type.
 */
export abstract class Embedder {
  /** Names the space; stored beside every vector. */
  abstract readonly modelId: string;

  /**
   * One vector per text, in order; undefined where the model has nothing to say about a text, or
   * said something that is no vector. Throws EmbeddingFailed when it cannot be asked.
   */
  abstract embed(
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]>;
}
