const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Searching natively costs more than stepping through so many bytes. */
const NEAR_BYTES = 256;

/** The strings of a JSON text, one after the other. */
export class JsonStrings {
  start = 0;
  /** After the closing quote. */
  end = 0;
  hasEscapes = false;
  private escape = -1;

  constructor(private readonly bytes: Buffer) {}

  /** Moves to the first string that ends after this place; false if there is none. */
  seek(place: number): boolean {
    if (place >= this.bytes.length) return false;
    while (this.end <= place) {
      this.start = this.nextQuote(this.end);
      this.end = this.closing(this.start + 1) + 1;
      if (this.end > this.bytes.length) return false;
    }
    return true;
  }

  /** Outside of strings, where nothing is escaped. */
  private nextQuote(from: number): number {
    const { bytes } = this;
    const near = Math.min(bytes.length, from + NEAR_BYTES);
    for (let at = from; at < near; at++) if (bytes[at] === QUOTE) return at;
    return placeOf(bytes, QUOTE, near);
  }

  /** Steps through the next bytes, and jumps from there: most strings are short, some are megabytes long. */
  private closing(from: number): number {
    const { bytes } = this;
    let at = from;
    this.hasEscapes = false;
    while (at < bytes.length) {
      const near = Math.min(bytes.length, at + NEAR_BYTES);
      for (; at < near; at++) {
        if (bytes[at] === QUOTE) return at;
        if (bytes[at] !== BACKSLASH) continue;
        this.hasEscapes = true;
        at++;
      }
      const escape = this.nextEscape(at);
      const quote = bytes.subarray(0, escape).indexOf(QUOTE, at);
      if (quote >= 0) return quote;
      at = escape;
    }
    return bytes.length;
  }

  private nextEscape(from: number): number {
    if (this.escape < from) this.escape = placeOf(this.bytes, BACKSLASH, from);
    return this.escape;
  }
}
/** The length of the bytes when there is none. */
function placeOf(bytes: Buffer, byte: number | Buffer, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}

/** Finds the next of several byte sequences; each is searched for once over all the bytes. */
export class Places {
  /** The length of the sequence that was found last. */
  found = 0;
  private readonly places: { readonly sequence: Buffer; at: number }[];

  constructor(
    private readonly bytes: Buffer,
    sequences: readonly Buffer[],
  ) {
    // Of several at the same place, the longest is found.
    const longestFirst = sequences.toSorted((a, b) => b.length - a.length);
    this.places = longestFirst.map((sequence) => ({ sequence, at: -1 }));
  }

  /** The length of the bytes when there are no more. */
  from(start: number): number {
    let next = this.bytes.length;
    for (const place of this.places) {
      if (place.at < start) place.at = placeOf(this.bytes, place.sequence, start);
      if (place.at >= next) continue;
      next = place.at;
      this.found = place.sequence.length;
    }
    return next;
  }
}
