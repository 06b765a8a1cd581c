/** The id of a request is looked for in this many bytes at either end of an oversized response. */
const KEPT_BYTES = 1_024;

/** Why a message was discarded: it is too large, or the shared budget for incoming messages is used up. */
export type Excess = 'message' | 'budget';

/** First and last bytes of a message that was too large to keep. */
export class BothEnds {
  private readonly first = Buffer.alloc(KEPT_BYTES);
  private firstUsed = 0;
  private readonly last = Buffer.alloc(2 * KEPT_BYTES);
  private lastUsed = 0;

  constructor(readonly excess: Excess) {}

  get head(): Buffer {
    return this.first.subarray(0, this.firstUsed);
  }

  get tail(): Buffer {
    return this.last.subarray(Math.max(0, this.lastUsed - KEPT_BYTES), this.lastUsed);
  }

  add(piece: Buffer): void {
    if (this.firstUsed < KEPT_BYTES) this.firstUsed += piece.copy(this.first, this.firstUsed);
    const kept = piece.subarray(-KEPT_BYTES);
    if (this.lastUsed + kept.length > this.last.length) {
      this.last.copyWithin(0, this.lastUsed - KEPT_BYTES, this.lastUsed);
      this.lastUsed = KEPT_BYTES;
    }
    this.lastUsed += kept.copy(this.last, this.lastUsed);
  }
}
