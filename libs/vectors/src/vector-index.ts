export type VectorPayload = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

export interface VectorPoint {
  readonly id: string;
  /** Of length 1. */
  readonly vector: Float32Array;
  readonly payload: VectorPayload;
  /** Differs when vector or payload do; tells what is stale without reading either. */
  readonly fingerprint: string;
}

export interface VectorHit {
  readonly id: string;
  /** Cosine. */
  readonly score: number;
}

/** Every named field has one of the given values; for a list field, one of its items has. */
export type VectorFilter = Readonly<Record<string, readonly (string | boolean)[]>>;

/**
 * Points of one collection. Always derived from rows, so an implementation may lose everything and
 * be filled again. Throws VectorIndexFailed when it cannot be asked.
 */
export interface VectorIndex {
  /** Ready for vectors of this size; points of another size are dropped. */
  open(dimensions: number): Promise<void>;
  /** Ids with their fingerprints. */
  stored(): Promise<ReadonlyMap<string, string>>;
  /** Adds, or replaces points of the same id. */
  upsert(points: readonly VectorPoint[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** For each vector the nearest points that pass the filter, by score, then id. */
  search(
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
  ): Promise<readonly (readonly VectorHit[])[]>;
}
