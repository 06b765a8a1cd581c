import type { RpcId } from '@app/mcp-protocol';

const FIRST_SIZE = 64;

/**
 * A table of pending items by the id we gave them. As the ids are ours, each is chosen such that its slot in a
 * plain array is free: no hashing, and no outgrown table for the garbage collector (see `UnhashedSet`).
 */
export class SlotTable<T extends { readonly id: number }> {
  private places: (T | undefined)[] = new Array<T | undefined>(FIRST_SIZE).fill(undefined);
  private count = 0;

  /** `next` returns an id that it never returned before. */
  constructor(private readonly next: () => number) {}

  get size(): number {
    return this.count;
  }

  /** An id that was never returned before; its slot is free until the next call. */
  nextId(): number {
    if (this.count * 2 >= this.places.length) this.grow();
    let id = this.next();
    while (this.places[this.placeOf(id)]) id = this.next();
    return id;
  }

  add(item: T): void {
    this.places[this.placeOf(item.id)] = item;
    this.count++;
  }

  /** Accepts any id that a server sends. */
  get(id: RpcId): T | undefined {
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
