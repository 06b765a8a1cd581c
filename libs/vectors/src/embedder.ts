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

/** Scales in place to length 1; undefined for zeros, NaN and infinities, which have no direction. */
export function normalise(vector: Float32Array): Float32Array | undefined {
  let square = 0;
  for (const value of vector) square += value * value;
  if (!Number.isFinite(square) || square === 0) return undefined;
  const factor = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * factor;
  return vector;
}
