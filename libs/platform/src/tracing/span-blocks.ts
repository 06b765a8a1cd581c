/** Bytes of a block at first; it doubles as it fills. */
const FIRST_BYTES = 8_192;
/** A block with more takes no further spans. */
const FULL_BYTES = 131_072;
/** Of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
const COMMA = 0x2c;

/** Spans as JSON with commas between them. */
class Block {
  spans = 0;
  private used = 0;
  private buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);

  constructor(private readonly maxSpans: number) {}

  get json(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  /** Bytes that it takes in memory. */
  get size(): number {
    return this.buffer.length;
  }

  get isFull(): boolean {
    return this.spans >= this.maxSpans || this.used >= FULL_BYTES;
  }

  add(span: string): void {
    const needed = this.used + 1 + span.length * MAX_BYTES_PER_UNIT;
    if (needed > this.buffer.length) this.grow(needed);
    if (this.spans > 0) this.buffer[this.used++] = COMMA;
    this.used += this.buffer.write(span, this.used);
    this.spans += 1;
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, needed));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}

/**
 * Spans that wait for the collector, in blocks that are sent and dropped as a whole: a buffer of its own for each span
 * costs as much as to encode it.
 */
export class SpanBlocks {
  /** Those that wait. */
  spans = 0;
  /** Bytes that they take in memory. */
  bytes = 0;
  /** The oldest first. */
  private blocks: Block[] = [];
  private open: Block | undefined;

  constructor(private readonly maxSpansOfBlock: number) {}

  add(span: string): void {
    if (!this.open || this.open.isFull) {
      this.open = new Block(this.maxSpansOfBlock);
      this.blocks.push(this.open);
      this.bytes += this.open.size;
    }
    const before = this.open.size;
    this.open.add(span);
    this.bytes += this.open.size - before;
    this.spans += 1;
  }

  /** Removes the oldest blocks with at most so many spans; at least one, if there is one. */
  take(maxSpans: number): readonly Block[] {
    let count = 0;
    let spans = 0;
    for (const block of this.blocks) {
      if (count > 0 && spans + block.spans > maxSpans) break;
      count += 1;
      spans += block.spans;
    }
    return this.remove(count);
  }

  takeBack(blocks: readonly Block[]): void {
    this.blocks.unshift(...blocks);
    this.count(blocks, 1);
  }

  /** Returns how many spans are lost. */
  dropOldest(): number {
    return spansIn(this.remove(1));
  }

  private remove(count: number): readonly Block[] {
    const removed = this.blocks.splice(0, count);
    if (this.blocks.length === 0) this.open = undefined;
    this.count(removed, -1);
    return removed;
  }

  private count(blocks: readonly Block[], sign: 1 | -1): void {
    this.spans += sign * spansIn(blocks);
    for (const { size } of blocks) this.bytes += sign * size;
  }
}

export function spansIn(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { spans }) => sum + spans, 0);
}

export type { Block };
