import type { Sliced } from '../work/slices.js';

/** A new layer is merged into the base when it has more than this share of its entries. */
const LARGEST_SHARE = 1 / 8;
const SMALL = 256;

/**
 * An immutable map that shares most of its entries with the one it was made of: a change of a few among 100,000 entries
 * costs little time and memory. Iteration is not in the order of insertion.
 */
export class LayeredMap<K, V extends object> implements ReadonlyMap<K, V> {
  private constructor(
    private readonly base: ReadonlyMap<K, V>,
    /** What replaces entries of the base; undefined for a removed one. */
    private readonly layer: ReadonlyMap<K, V | undefined>,
    readonly size: number,
  ) {}

  static of<K, V extends object>(entries: ReadonlyMap<K, V>): LayeredMap<K, V> {
    return new LayeredMap(entries, new Map(), entries.size);
  }

  /** With these entries; without those that are undefined. */
  *with(changes: ReadonlyMap<K, V | undefined>): Sliced<LayeredMap<K, V>> {
    const layer = new Map(this.layer);
    let { size } = this;
    for (const [key, value] of changes) {
      yield;
      size += (value ? 1 : 0) - (this.has(key) ? 1 : 0);
      layer.set(key, value);
    }
    const changed = new LayeredMap(this.base, layer, size);
    return layer.size <= SMALL + LARGEST_SHARE * this.base.size
      ? changed
      : LayeredMap.of(yield* changed.merged());
  }

  private *merged(): Sliced<Map<K, V>> {
    const entries = new Map<K, V>();
    for (const [key, value] of this) {
      yield;
      entries.set(key, value);
    }
    return entries;
  }

  get(key: K): V | undefined {
    return this.layer.has(key) ? this.layer.get(key) : this.base.get(key);
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): MapIterator<[K, V]> {
    for (const entry of this.base) if (!this.layer.has(entry[0])) yield entry;
    for (const [key, value] of this.layer) if (value) yield [key, value];
    return undefined;
  }

  *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
    return undefined;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
    return undefined;
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }
}
