const FIRST_BYTES = 8_192;
/** Of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const DELETE = 0x7f;
const ZERO = 0x30;

/**
 * JSON as bytes, written piece by piece: a string made of so many pieces would be copied once more, and leaves the
 * pieces to the garbage collector, which costs more than to write them.
 */
export class JsonBytes {
  private used = 0;
  private buffer: Buffer;

  constructor(bytes = FIRST_BYTES) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
  }

  get written(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  get length(): number {
    return this.used;
  }

  /** Bytes that it takes in memory. */
  get size(): number {
    return this.buffer.length;
  }

  /** ASCII as it is. */
  ascii(text: string): void {
    const { length } = text;
    this.reserve(length);
    const { buffer } = this;
    const from = this.used;
    for (let i = 0; i < length; i++) buffer[from + i] = text.charCodeAt(i);
    this.used = from + length;
  }

  bytes(bytes: Buffer): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** Any text, in quotes. */
  string(text: string): void {
    const { length } = text;
    this.reserve(length + 2);
    const { buffer } = this;
    let at = this.used;
    buffer[at++] = QUOTE;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < SPACE || unit >= DELETE || unit === QUOTE || unit === BACKSLASH) {
        return this.escaped(text);
      }
      buffer[at++] = unit;
    }
    buffer[at++] = QUOTE;
    this.used = at;
  }

  /** A whole number below a million, with leading zeros. */
  sixDigits(value: number): void {
    this.reserve(6);
    let rest = value;
    for (let at = this.used + 5; at >= this.used; at--) {
      const tenth = Math.floor(rest / 10);
      this.buffer[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.used += 6;
  }

  private escaped(text: string): void {
    const json = JSON.stringify(text);
    this.reserve(json.length * MAX_BYTES_PER_UNIT);
    this.used += this.buffer.write(json, this.used);
  }

  private reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, needed));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}
