/** Three buckets for each doubling, from 0.1 ms to 200 s: a percentile is less than 26 % off. */
export const LATENCY_BUCKETS = 64;
const FIRST_MS = 0.1;
const PER_DOUBLING = 3;

/** Counts of calls by duration. */
export type Latency = Uint32Array;

export function newLatency(): Latency {
  return new Uint32Array(LATENCY_BUCKETS);
}

export function bucketOf(milliseconds: number): number {
  if (!(milliseconds > FIRST_MS)) return 0;
  const bucket = 1 + Math.floor(Math.log2(milliseconds / FIRST_MS) * PER_DOUBLING);
  return Math.min(bucket, LATENCY_BUCKETS - 1);
}

/** The upper bound of a bucket. */
function boundMs(bucket: number): number {
  return FIRST_MS * 2 ** (bucket / PER_DOUBLING);
}

/** Milliseconds that this share (0…1) of the calls took at most; null without calls. */
export function percentileMs(latency: Latency, share: number): number | null {
  let total = 0;
  for (const count of latency) total += count;
  if (total === 0) return null;
  const wanted = share * total;
  let below = 0;
  for (let bucket = 0; bucket < latency.length; bucket++) {
    const count = latency[bucket] ?? 0;
    if (count > 0 && below + count >= wanted) {
      const from = bucket === 0 ? 0 : boundMs(bucket - 1);
      const ms = from + (boundMs(bucket) - from) * ((wanted - below) / count);
      return Math.round(ms * 10) / 10;
    }
    below += count;
  }
  return null;
}

const DIGIT = 128;

/** As text of one byte for each character: a bucket, then its count in digits of seven bits with the last one marked. */
export function packLatency(latency: Latency): string {
  const codes: number[] = [];
  for (let bucket = 0; bucket < latency.length; bucket++) {
    let count = latency[bucket] ?? 0;
    if (count === 0) continue;
    codes.push(bucket);
    for (; count >= DIGIT; count = Math.floor(count / DIGIT)) codes.push(count % DIGIT);
    codes.push(count + DIGIT);
  }
  // At once: a text that is put together from parts keeps all of them in memory.
  return String.fromCharCode(...codes);
}

export function addPacked(to: Latency, packed: string): void {
  for (let at = 0; at < packed.length;) {
    const bucket = packed.charCodeAt(at++);
    let count = 0;
    for (let unit = 1; at < packed.length; unit *= DIGIT) {
      const digit = packed.charCodeAt(at++);
      count += (digit % DIGIT) * unit;
      if (digit >= DIGIT) break;
    }
    if (bucket < to.length) to[bucket] = (to[bucket] ?? 0) + count;
  }
}
