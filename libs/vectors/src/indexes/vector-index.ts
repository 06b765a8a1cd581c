export type VectorPayload = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

export interface VectorPoint {
  readonly id: string;
  /** A unit vector. */
  readonly vector: Float32Array;
  readonly payload: VectorPayload;
  /** Changes with vector or payload, so that stale points are found without reading them. */
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
 * Points of one collection. They are derived from rows, so an implementation may lose them. Methods throw
 * VectorIndexFailed when the index cannot be used.
 */
export interface VectorIndex {
  /** Prepares for vectors of this size; points of another size are dropped. */
  open(dimensions: number): Promise<void>;
  /** Ids with their fingerprints. */
  stored(): Promise<ReadonlyMap<string, string>>;
  /** Adds points, or replaces those with the same id. */
  upsert(points: readonly VectorPoint[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** A copy of the vector of a point; absent where it would have to be fetched. */
  vectorOf?(id: string): Float32Array | undefined;
  /**
   * For each vector the nearest points that pass the filter, by score, then id. `among`: the ids that are wanted, as
   * numbers; an index outside of this process may give others too.
   */
  search(
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
    among?: ReadonlySet<number>,
  ): Promise<readonly (readonly VectorHit[])[]>;
}
