import { BothEnds, type Excess } from './both-ends.js';
import { GrowingBuffer, type Room } from './growing-buffer.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface MessageLimits {
  /** Maximum size of one message. */
  readonly maxBytes: number;
  readonly room: Room;
}

interface LineHandlers {
  /** An owned line may be kept; any other shares memory with the chunk that was pushed. */
  onLine(line: Buffer, isOwned: boolean): void;
  onOversized(ends: BothEnds): void;
}

/**
 * Splits bytes into lines and never buffers more than `maxBytes` of an unfinished one. LF and CRLF end a line and, with
 * `endsAtReturn`, CR alone too.
 */
export class LineSplitter {
  private readonly begun: GrowingBuffer;
  private size = 0;
  private ends: BothEnds | undefined;
  /** The last byte was CR: an LF that follows belongs to the same line end. */
  private isAfterReturn = false;

  constructor(
    private readonly limits: MessageLimits,
    private readonly handlers: LineHandlers,
    private readonly endsAtReturn = false,
  ) {
    this.begun = new GrowingBuffer(limits.room);
  }

  push(chunk: Buffer): void {
    let from = this.isAfterReturn && chunk[0] === LINE_FEED ? 1 : 0;
    if (chunk.length > 0) this.isAfterReturn = false;
    let feed = placeOf(chunk, LINE_FEED, from);
    let back = this.endsAtReturn ? placeOf(chunk, CARRIAGE_RETURN, from) : Infinity;
    for (let end = Math.min(feed, back); end !== Infinity; end = Math.min(feed, back)) {
      this.finish(chunk, from, end);
      from = end + 1;
      if (end === back) {
        this.isAfterReturn = from === chunk.length;
        if (chunk[from] === LINE_FEED) from++;
        back = placeOf(chunk, CARRIAGE_RETURN, from);
      }
      // Each terminator is searched for once per chunk: a chunk with many of one and none of the other must not be
      // scanned repeatedly.
      if (feed < from) feed = placeOf(chunk, LINE_FEED, from);
    }
    if (from < chunk.length) this.keep(chunk.subarray(from));
  }

  /** Bytes of the current line so far, also of an oversized one. */
  get lineBytes(): number {
    return this.size;
  }

  /** Flushes the unterminated last line at the end of the input. */
  end(): void {
    if (this.size > 0) this.push(Buffer.from([LINE_FEED]));
  }

  /** Releases the buffer of an unfinished line. */
  close(): void {
    this.begun.clear();
  }

  private keep(piece: Buffer): void {
    this.size += piece.length;
    if (this.ends) this.ends.add(piece);
    else if (this.size > this.limits.maxBytes) this.skip('message', piece);
    else if (!this.begun.append(piece)) this.skip('budget', piece);
  }

  private skip(excess: Excess, piece: Buffer): void {
    this.ends = new BothEnds(excess);
    this.ends.add(this.begun.take());
    this.ends.add(piece);
  }

  private finish(chunk: Buffer, from: number, end: number): void {
    const isWhole = this.size === 0 && end - from <= this.limits.maxBytes;
    if (!isWhole && from < end) this.keep(chunk.subarray(from, end));
    const { ends } = this;
    this.size = 0;
    this.ends = undefined;
    if (ends) return this.handlers.onOversized(ends);
    const line = isWhole ? chunk.subarray(from, end) : this.begun.take();
    const isCrlf = line[line.length - 1] === CARRIAGE_RETURN;
    this.handlers.onLine(isCrlf ? line.subarray(0, -1) : line, !isWhole);
  }
}

function placeOf(chunk: Buffer, byte: number, from: number): number {
  const place = chunk.indexOf(byte, from);
  return place < 0 ? Infinity : place;
}
