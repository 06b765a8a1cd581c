import type { CallPoint } from './call-points.js';
import { addPacked, type Latency, newLatency, percentileMs } from './latency.js';

interface Sum {
  calls: number;
  errors: number;
  readonly latency: Latency;
}

/** Columns of equal length, one entry per step with a call. */
export interface Columns {
  /** In steps since the begin of the window. */
  readonly t: number[];
  readonly calls: number[];
  readonly errors: number[];
  readonly p50: (number | null)[];
  readonly p95: (number | null)[];
  readonly p99: (number | null)[];
}

/** Adds up points of several replicas, in steps that may be longer than theirs. */
export class CallSums {
  private readonly steps = new Map<number, Sum>();
  private readonly total: Sum = { calls: 0, errors: 0, latency: newLatency() };

  /** `from` and `stepS` in seconds since the epoch. */
  constructor(
    private readonly from: number,
    private readonly stepS: number,
  ) {}

  get calls(): number {
    return this.total.calls;
  }

  get errors(): number {
    return this.total.errors;
  }

  add({ at, calls, errors, latency }: CallPoint): void {
    const step = Math.floor((at - this.from) / this.stepS);
    if (step < 0) return;
    let sum = this.steps.get(step);
    if (!sum) this.steps.set(step, (sum = { calls: 0, errors: 0, latency: newLatency() }));
    for (const one of [sum, this.total]) {
      one.calls += calls;
      one.errors += errors;
      addPacked(one.latency, latency);
    }
  }

  percentiles(): {
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
  } {
    return percentilesOf(this.total.latency);
  }

  columns(): Columns {
    const columns: Columns = { t: [], calls: [], errors: [], p50: [], p95: [], p99: [] };
    for (const [step, sum] of [...this.steps].toSorted(([one], [other]) => one - other)) {
      const { p50, p95, p99 } = percentilesOf(sum.latency);
      columns.t.push(step);
      columns.calls.push(sum.calls);
      columns.errors.push(sum.errors);
      columns.p50.push(p50);
      columns.p95.push(p95);
      columns.p99.push(p99);
    }
    return columns;
  }
}

function percentilesOf(latency: Latency) {
  return {
    p50: percentileMs(latency, 0.5),
    p95: percentileMs(latency, 0.95),
    p99: percentileMs(latency, 0.99),
  };
}
