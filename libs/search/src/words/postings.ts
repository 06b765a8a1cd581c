/** Ordered slots, and the same by slot. */
export interface Gone {
  readonly slots: readonly number[];
  /** 1 for each of them. */
  readonly isGone: Uint8Array;
}

/** The documents that contain a term, with frequencies. */
export class Postings {
  /** Alternating slots and frequencies: two ordered runs, of which the second is merged when the order is needed. */
  private readonly pairs = new Numbers();
  private firstRun = 0;

  get size(): number {
    return this.pairs.size / 2;
  }

  slotAt(i: number): number {
    return this.pairs.at(2 * i);
  }

  frequenciesAt(i: number): number {
    return this.pairs.at(2 * i + 1);
  }

  has(slot: number): boolean {
    return this.find(slot) >= 0;
  }

  add(slot: number, frequencies: number): void {
    const last = this.size === 0 ? -1 : this.slotAt(this.size - 1);
    if (slot < last && this.firstRun < this.size) this.merge();
    const isInOrder = this.size === this.firstRun && (this.size === 0 || slot > last);
    this.set(this.size, slot, frequencies);
    if (isInOrder) this.firstRun = this.size;
  }

  drop(gone: Gone): void {
    if (gone.slots.length * Math.log2(this.size + 1) < this.size) {
      for (const slot of gone.slots) {
        const at = this.find(slot);
        if (at >= 0) this.pairs.cut(2 * at, 2);
      }
      this.firstRun = this.size;
      return;
    }
    this.merge();
    let kept = 0;
    for (let i = 0; i < this.size; i++) {
      const slot = this.slotAt(i);
      if (gone.isGone[slot] !== 1) this.set(kept++, slot, this.frequenciesAt(i));
    }
    this.pairs.shorten(2 * kept);
    this.firstRun = kept;
  }

  private find(slot: number): number {
    this.merge();
    let [low, high] = [0, this.size - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.slotAt(middle);
      if (found === slot) return middle;
      if (found < slot) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  private set(i: number, slot: number, frequencies: number): void {
    this.pairs.set(2 * i, slot);
    this.pairs.set(2 * i + 1, frequencies);
  }

  private merge(): void {
    if (this.firstRun === this.size) return;
    const second = this.pairs.copy(2 * this.firstRun);
    let [first, next] = [this.firstRun - 1, second.length / 2 - 1];
    for (let to = this.size - 1; next >= 0; to--) {
      const slot = second[2 * next] ?? 0;
      if (first >= 0 && this.slotAt(first) > slot) {
        this.set(to, this.slotAt(first), this.frequenciesAt(first));
        first--;
      } else {
        this.set(to, slot, second[2 * next + 1] ?? 0);
        next--;
      }
    }
    this.firstRun = this.size;
  }
}

/** A growable list of 32-bit integers: a quarter of the memory of an array, and opaque to the garbage collector. */
export class Numbers {
  private values = new Int32Array(4);
  private used = 0;

  get size(): number {
    return this.used;
  }

  at(i: number): number {
    return this.values[i] ?? 0;
  }

  set(i: number, value: number): void {
    if (i >= this.values.length) {
      const grown = new Int32Array(Math.max(i + 1, Math.ceil(this.values.length * 1.5)));
      grown.set(this.values);
      this.values = grown;
    }
    this.values[i] = value;
    if (i >= this.used) this.used = i + 1;
  }

  indexOf(value: number, from = 0): number {
    const at = this.values.indexOf(value, from);
    return at < this.used ? at : -1;
  }

  copy(from: number): Int32Array {
    return this.values.slice(from, this.used);
  }

  cut(at: number, count: number): void {
    this.values.copyWithin(at, at + count, this.used);
    this.used -= count;
  }

  shorten(size: number): void {
    this.used = size;
  }
}
