/** Accounts for the capacity of growing buffers. */
export interface Room {
  /** False when the budget has no room for that many more bytes. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** For buffers that are bounded elsewhere. */
export const UNCOUNTED: Room = { take: () => true, give: () => undefined };

const EMPTY = Buffer.alloc(0);
/** Upper limit of the first allocation, which trusts a length that the server announced. */
const MAX_FIRST_BYTES = 1_048_576;
/** Later allocations exceed the received bytes by at most this factor. */
const GROWTH_TO_EXPECTED = 16;

/**
 * Collects chunks in one contiguous buffer. A list of chunks would cost an object each, and a server may send ten
 * million chunks of one byte.
 */
export class GrowingBuffer {
  private bytes: Buffer = EMPTY;
  private used = 0;
  private expected = 0;

  constructor(private readonly room: Room) {}

  get length(): number {
    return this.used;
  }

  /** Announces the final length: a small buffer is allocated once, a large one grows up to it and never beyond. */
  expect(length: number): void {
    this.expected = length;
  }

  /** False, with nothing changed, when the budget has no room. */
  append(piece: Uint8Array): boolean {
    const size = this.used + piece.length;
    if (size > this.bytes.length && !this.grow(size)) return false;
    this.bytes.set(piece, this.used);
    this.used = size;
    return true;
  }

  appendByte(byte: number): boolean {
    if (this.used === this.bytes.length && !this.grow(this.used + 1)) return false;
    this.bytes[this.used++] = byte;
    return true;
  }

  /** Takes ownership of a buffer; this one must be empty. */
  adopt(bytes: Buffer): boolean {
    if (!this.room.take(bytes.length)) return false;
    this.bytes = bytes;
    this.used = bytes.length;
    return true;
  }

  /** The content, valid until the next change. */
  peek(): Buffer {
    return this.bytes.subarray(0, this.used);
  }

  /** Returns the content, releases its accounting and leaves the buffer empty. */
  take(): Buffer {
    const taken = this.peek();
    this.clear();
    return taken;
  }

  clear(): void {
    if (this.bytes.length === 0) return;
    this.room.give(this.bytes.length);
    this.bytes = EMPTY;
    this.used = 0;
  }

  private grow(size: number): boolean {
    const capacity = Math.max(size, this.nextCapacity());
    if (!this.room.take(capacity - this.bytes.length)) return false;
    const grown = Buffer.allocUnsafe(capacity);
    this.bytes.copy(grown, 0, 0, this.used);
    this.bytes = grown;
    return true;
  }

  private nextCapacity(): number {
    const { length } = this.bytes;
    if (this.expected <= length) return length * 2;
    return Math.min(this.expected, Math.max(MAX_FIRST_BYTES, length * GROWTH_TO_EXPECTED));
  }
}
