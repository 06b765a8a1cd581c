import { randomFillSync } from 'node:crypto';

/** The SDK client that negotiates counts from 0: a late or repeated answer to it must not match one of our ids. */
const LAST_FOREIGN_ID = 999;
/** Leaves room for 10^9 requests whose ids are exact in every language with 64-bit floats. */
const MAX_STEP = 2 ** 20;
const POOL = new Uint32Array(1_024);

let used = POOL.length;

/**
 * Request ids, strictly increasing and so never reused. Where all answers share one stream the increments are
 * random: text that ends up on that stream cannot answer a request that is not sent yet (contract R43).
 */
export class RequestIds {
  private last = LAST_FOREIGN_ID;

  constructor(private readonly guessable: boolean) {}

  next(): number {
    this.last += this.guessable ? 1 : randomStep();
    return this.last;
  }
}

function randomStep(): number {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  return 1 + ((POOL[used++] ?? 0) % MAX_STEP);
}
