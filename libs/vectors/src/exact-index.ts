import { TopScores } from './top-scores.js';
import type {
  VectorFilter,
  VectorHit,
  VectorIndex,
  VectorPayload,
  VectorPoint,
} from './vector-index.js';

/** Filters repeat (all available servers), so their answers per slot are kept until something changes. */
const MAX_MASKS = 16;
const FIRST_CAPACITY = 256;

/** Compares with every vector; at the sizes of a tool catalogue that is faster than any approximation needs to be. */
export class ExactIndex implements VectorIndex {
  private dimensions = 0;
  private vectors = new Float32Array(0);
  private readonly points: { id: string; payload: VectorPayload; fingerprint: string }[] = [];
  private readonly slotOf = new Map<string, number>();
  private readonly masks = new Map<string, Uint8Array>();

  open(dimensions: number): Promise<void> {
    if (dimensions !== this.dimensions) {
      this.dimensions = dimensions;
      this.vectors = new Float32Array(0);
      this.points.length = 0;
      this.slotOf.clear();
      this.masks.clear();
    }
    return Promise.resolve();
  }

  stored(): Promise<ReadonlyMap<string, string>> {
    return Promise.resolve(new Map(this.points.map((point) => [point.id, point.fingerprint])));
  }

  upsert(points: readonly VectorPoint[]): Promise<void> {
    this.masks.clear();
    for (const { id, vector, payload, fingerprint } of points) {
      const slot = this.slotOf.get(id) ?? this.points.length;
      this.reserve(slot + 1);
      this.vectors.set(vector, slot * this.dimensions);
      this.points[slot] = { id, payload, fingerprint };
      this.slotOf.set(id, slot);
    }
    return Promise.resolve();
  }

  remove(ids: readonly string[]): Promise<void> {
    this.masks.clear();
    for (const id of ids) {
      const slot = this.slotOf.get(id);
      const last = this.points.pop();
      if (slot === undefined || !last) {
        if (last) this.points.push(last);
        continue;
      }
      this.slotOf.delete(id);
      if (last.id === id) continue;
      const from = this.points.length * this.dimensions;
      this.vectors.copyWithin(slot * this.dimensions, from, from + this.dimensions);
      this.points[slot] = last;
      this.slotOf.set(last.id, slot);
    }
    return Promise.resolve();
  }

  search(
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
  ): Promise<readonly (readonly VectorHit[])[]> {
    const mask = this.mask(filter);
    return Promise.resolve(vectors.map((vector) => this.nearest(vector, limit, mask)));
  }

  private nearest(vector: Float32Array, limit: number, mask: Uint8Array): VectorHit[] {
    const best = new TopScores(limit);
    for (let slot = 0; slot < this.points.length; slot++) {
      if (mask[slot] === 1) best.offer(slot, this.dot(vector, slot));
    }
    return best
      .entries()
      .map(({ key, score }) => ({ id: this.points[key]?.id ?? '', score }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  }

  /** Four sums, because one would make every addition wait for the one before. */
  private dot(vector: Float32Array, slot: number): number {
    const stored = this.vectors;
    const end = this.dimensions - (this.dimensions % 4);
    let at = slot * this.dimensions;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let i = 0;
    for (; i < end; i += 4, at += 4) {
      a += (vector[i] ?? 0) * (stored[at] ?? 0);
      b += (vector[i + 1] ?? 0) * (stored[at + 1] ?? 0);
      c += (vector[i + 2] ?? 0) * (stored[at + 2] ?? 0);
      d += (vector[i + 3] ?? 0) * (stored[at + 3] ?? 0);
    }
    for (; i < this.dimensions; i++, at++) a += (vector[i] ?? 0) * (stored[at] ?? 0);
    return a + b + c + d;
  }

  private mask(filter: VectorFilter): Uint8Array {
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

  private reserve(slots: number): void {
    if (slots * this.dimensions <= this.vectors.length) return;
    const grown = new Float32Array(
      Math.max(Math.ceil(slots * 1.5), FIRST_CAPACITY) * this.dimensions,
    );
    grown.set(this.vectors);
    this.vectors = grown;
  }
}

function hasOneOf(value: VectorPayload[string] | undefined, wanted: ReadonlySet<unknown>): boolean {
  return Array.isArray(value) ? value.some((item) => wanted.has(item)) : wanted.has(value);
}
