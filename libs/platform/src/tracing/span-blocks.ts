import { JsonBytes } from './json-bytes.js';
import { writeSpan } from './otlp-json.js';
import type { Span } from './span.js';

/** A block with more bytes takes no further spans. */
const FULL_BYTES = 131_072;

/** Spans as JSON with commas between them. */
class Block {
  spans = 0;
  private readonly bytes: JsonBytes;

  constructor(
    private readonly maxSpans: number,
    size: number | undefined,
  ) {
    this.bytes = new JsonBytes(size);
  }

  get json(): Buffer {
    return this.bytes.written;
  }

  /** Bytes that it takes in memory. */
  get size(): number {
    return this.bytes.size;
  }

  get isFull(): boolean {
    return this.spans >= this.maxSpans || this.bytes.length >= FULL_BYTES;
  }

  add(span: Span, epochMs: number): void {
    if (this.spans > 0) this.bytes.ascii(',');
    writeSpan(this.bytes, span, epochMs);
    this.spans += 1;
  }
}

/**
 * Spans that wait for the collector, in blocks that are sent and dropped as a whole: a buffer of its own for each span
 * costs as much as to write it.
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

  /** `epochMs` as in `writeSpan`. */
  add(span: Span, epochMs: number): void {
    if (!this.open || this.open.isFull) {
      // One that follows a full one will be as large.
      this.open = new Block(this.maxSpansOfBlock, this.open?.size);
      this.blocks.push(this.open);
      this.bytes += this.open.size;
    }
    const before = this.open.size;
    this.open.add(span, epochMs);
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
