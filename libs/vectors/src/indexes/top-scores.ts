/** Keeps the highest scores of a long series, in a min-heap. */
export class TopScores {
  private readonly keys: number[] = [];
  private readonly scores: number[] = [];

  constructor(private readonly limit: number) {}

  /** A lower or equal score changes nothing. */
  get floor(): number {
    return this.keys.length < this.limit ? -Infinity : (this.scores[0] ?? Infinity);
  }

  offer(key: number, score: number): void {
    if (this.keys.length < this.limit) {
      this.keys.push(key);
      this.scores.push(score);
      this.rise(this.keys.length - 1);
    } else if (score > (this.scores[0] ?? Infinity)) {
      this.keys[0] = key;
      this.scores[0] = score;
      this.sink();
    }
  }

  /** Unordered. */
  map<T>(make: (key: number, score: number) => T): T[] {
    return this.keys.map((key, i) => make(key, this.scores[i] ?? 0));
  }

  private rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (this.score(parent) <= this.score(at)) return;
      this.swap(parent, at);
      at = parent;
    }
  }

  private sink(): void {
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let lowest = at;
      if (this.score(left) < this.score(lowest)) lowest = left;
      if (this.score(right) < this.score(lowest)) lowest = right;
      if (lowest === at) return;
      this.swap(lowest, at);
      at = lowest;
    }
  }

  private score(at: number): number {
    return this.scores[at] ?? Infinity;
  }

  private swap(a: number, b: number): void {
    const key = this.keys[a] ?? 0;
    const score = this.scores[a] ?? 0;
    this.keys[a] = this.keys[b] ?? 0;
    this.scores[a] = this.scores[b] ?? 0;
    this.keys[b] = key;
    this.scores[b] = score;
  }
}
