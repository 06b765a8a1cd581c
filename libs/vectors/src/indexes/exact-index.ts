import { TopScores } from './top-scores.js';
import { VectorMemory } from './vector-memory.js';
import type {
  VectorFilter,
  VectorHit,
  VectorIndex,
  VectorPayload,
  VectorPoint,
} from './vector-index.js';

/** Cached filter results: searches repeat the same filters (all available servers). */
const MAX_MASKS = 16;

/** Compares with every vector, which is fast enough for 100,000 tools. */
export class ExactIndex implements VectorIndex {
  private dimensions = 0;
  private memory = new VectorMemory(0);
  private readonly points: { id: string; payload: VectorPayload; fingerprint: string }[] = [];
  private readonly slotOf = new Map<string, number>();
  private readonly masks = new Map<string, Uint8Array>();
  /** The same by filter: that of all servers is long, and searches pass the same object. */
  private ofFilters = new WeakMap<VectorFilter, Uint8Array>();
  private masksAmong = new WeakMap<ReadonlySet<number>, Uint8Array>();

  open(dimensions: number): Promise<void> {
    if (dimensions !== this.dimensions) {
      this.dimensions = dimensions;
      this.memory = new VectorMemory(dimensions);
      this.points.length = 0;
      this.slotOf.clear();
      this.forgetMasks();
    }
    return Promise.resolve();
  }

  stored(): Promise<ReadonlyMap<string, string>> {
    return Promise.resolve(new Map(this.points.map((point) => [point.id, point.fingerprint])));
  }

  vectorOf(id: string): Float32Array | undefined {
    const slot = this.slotOf.get(id);
    return slot === undefined ? undefined : this.memory.at(slot).slice(0, this.dimensions);
  }

  upsert(points: readonly VectorPoint[]): Promise<void> {
    this.forgetMasks();
    for (const { id, vector, payload, fingerprint } of points) {
      const slot = this.slotOf.get(id) ?? this.points.length;
      this.memory.set(slot, vector);
      this.points[slot] = { id, payload, fingerprint };
      this.slotOf.set(id, slot);
    }
    return Promise.resolve();
  }

  remove(ids: readonly string[]): Promise<void> {
    this.forgetMasks();
    for (const id of ids) {
      const slot = this.slotOf.get(id);
      const last = this.points.pop();
      if (slot === undefined || !last) {
        if (last) this.points.push(last);
        continue;
      }
      this.slotOf.delete(id);
      if (last.id === id) continue;
      this.memory.move(this.points.length, slot);
      this.points[slot] = last;
      this.slotOf.set(last.id, slot);
    }
    return Promise.resolve();
  }

  search(
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
    among?: ReadonlySet<number>,
  ): Promise<readonly (readonly VectorHit[])[]> {
    // What is not among them would take the places of what is.
    const mask = among ? this.maskAmong(among) : this.mask(filter);
    const best = vectors.map(() => new TopScores(limit));
    this.memory.compare(vectors, this.points.length, (query, first, scores) => {
      const top = best[query];
      if (top) offerAll(top, first, scores, mask);
    });
    return Promise.resolve(best.map((top) => this.hits(top)));
  }

  private forgetMasks(): void {
    this.masks.clear();
    this.ofFilters = new WeakMap();
    this.masksAmong = new WeakMap();
  }

  private hits(top: TopScores): VectorHit[] {
    return top
      .map((slot, score) => ({ id: this.points[slot]?.id ?? '', score }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  }

  private maskAmong(ids: ReadonlySet<number>): Uint8Array {
    let mask = this.masksAmong.get(ids);
    if (!mask) {
      mask = Uint8Array.from(this.points, ({ id }) => (ids.has(Number(id)) ? 1 : 0));
      this.masksAmong.set(ids, mask);
    }
    return mask;
  }

  private mask(filter: VectorFilter): Uint8Array {
    let mask = this.ofFilters.get(filter);
    if (!mask) this.ofFilters.set(filter, (mask = this.maskOf(filter)));
    return mask;
  }

  private maskOf(filter: VectorFilter): Uint8Array {
    const key = JSON.stringify(filter);
    const known = this.masks.get(key);
    if (known) return known;
    const wanted = Object.entries(filter).map(
      ([field, values]) => [field, new Set<unknown>(values)] as const,
    );
    const mask = Uint8Array.from(this.points, ({ payload }) =>
      wanted.every(([field, values]) => hasOneOf(payload[field], values)) ? 1 : 0,
    );
    if (this.masks.size >= MAX_MASKS) this.masks.clear();
    this.masks.set(key, mask);
    return mask;
  }
}

function offerAll(top: TopScores, first: number, scores: Float32Array, mask: Uint8Array): void {
  let { floor } = top;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] ?? 0;
    if (score <= floor || mask[first + i] !== 1) continue;
    top.offer(first + i, score);
    ({ floor } = top);
  }
}

function hasOneOf(value: VectorPayload[string] | undefined, wanted: ReadonlySet<unknown>): boolean {
  return Array.isArray(value) ? value.some((item) => wanted.has(item)) : wanted.has(value);
}
