import { type Latency, newLatency, packLatency } from './latency.js';

/** The calls that ended within one step. */
export interface CallPoint {
  /** The begin of the step, in seconds since the epoch. */
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  /** By `packLatency`. */
  readonly latency: string;
}

/** A limit that many series share. */
export interface PointBudget {
  used: number;
  readonly max: number;
}

/** Calls per step of so many seconds, for a limited time. Steps without a call take no memory. */
export class CallPoints {
  private points: CallPoint[] = [];
  private start = 0;
  private at = 0;
  private calls = 0;
  private errors = 0;
  private readonly latency: Latency = newLatency();

  constructor(
    readonly stepS: number,
    private readonly keepS: number,
    private readonly budget: PointBudget,
  ) {}

  /** `second` is when the call ended; the bucket is that of its duration. */
  add(second: number, bucket: number, isError: boolean): void {
    const at = second - (second % this.stepS);
    // The time of day may be set back.
    if (at > this.at) this.turn(at);
    this.calls += 1;
    if (isError) this.errors += 1;
    this.latency[bucket] = (this.latency[bucket] ?? 0) + 1;
  }

  /** Of the time since, oldest first. */
  since(second: number): readonly CallPoint[] {
    const kept = this.points.slice(this.start);
    if (this.calls > 0) kept.push(this.current());
    return kept.filter(({ at }) => at + this.stepS > second);
  }

  /** Drops what is too old; true if nothing is left. */
  trim(second: number): boolean {
    if (this.calls > 0 && this.at + this.stepS <= second) this.turn(0);
    for (let oldest = this.points[this.start]; oldest; oldest = this.points[this.start]) {
      if (oldest.at > second - this.keepS) break;
      this.start += 1;
      this.budget.used -= 1;
    }
    if (this.start > 0 && this.start * 2 >= this.points.length) {
      this.points = this.points.slice(this.start);
      this.start = 0;
    }
    return this.points.length === 0 && this.calls === 0;
  }

  /** Gives its share of the budget back. */
  clear(): void {
    this.budget.used -= this.points.length - this.start;
    this.points = [];
    this.start = 0;
  }

  private turn(at: number): void {
    if (this.calls > 0 && this.budget.used < this.budget.max) {
      this.points.push(this.current());
      this.budget.used += 1;
    }
    this.calls = 0;
    this.errors = 0;
    this.latency.fill(0);
    this.at = at;
    if (at > 0) this.trim(at);
  }

  private current(): CallPoint {
    const { at, calls, errors } = this;
    return { at, calls, errors, latency: packLatency(this.latency) };
  }
}
