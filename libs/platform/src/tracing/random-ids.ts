import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

export function newTraceId(): string {
  return take(TRACE_ID_BYTES);
}

export function newSpanId(): string {
  return take(SPAN_ID_BYTES);
}

/** From a pool: a call to the random number generator costs more than the rest of a span. */
function take(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  used += bytes;
  return text;
}
