import type { RequestId } from './json-rpc.js';

const FIRST_SIZE = 64;

/**
 * What is under way, by the number we gave it. The numbers are ours, so each is chosen such that its place
 * in a plain array is free: nothing is hashed, and no outgrown table is left behind (see `Crowd`).
 */
export class Numbered<T extends { readonly id: number }> {
  private places: (T | undefined)[] = new Array<T | undefined>(FIRST_SIZE).fill(undefined);
  private count = 0;

  constructor(private lastId: number) {}

  get size(): number {
    return this.count;
  }

  /** A number that was never given before, and whose place is free until the next one is asked for. */
  nextId(): number {
    if (this.count * 2 >= this.places.length) this.grow();
    do this.lastId++;
    while (this.places[this.placeOf(this.lastId)]);
    return this.lastId;
  }

  add(item: T): void {
    this.places[this.placeOf(item.id)] = item;
    this.count++;
  }

  /** Also for whatever a server calls a number of ours. */
  get(id: RequestId): T | undefined {
    if (typeof id !== 'number') return undefined;
    const item = this.places[this.placeOf(id)];
    return item?.id === id ? item : undefined;
  }

  remove(item: T): void {
    const place = this.placeOf(item.id);
    if (this.places[place] !== item) return;
    this.places[place] = undefined;
    this.count--;
  }

  all(): T[] {
    return this.places.filter((item) => item !== undefined);
  }

  private placeOf(id: number): number {
    return id & (this.places.length - 1);
  }

  private grow(): void {
    const items = this.all();
    this.places = new Array<T | undefined>(this.places.length * 2).fill(undefined);
    for (const item of items) this.places[this.placeOf(item.id)] = item;
  }
}
