/** Enough of an oversized line to find the id of its request at either end. */
const KEPT_OF_OVERSIZED = 1_024;

interface LineHandlers {
  onLine(line: Buffer): void;
  onOversized(head: Buffer, tail: Buffer): void;
}

/** Bytes to lines, never holding more than `maxBytes` of an unfinished one. */
export class LineSplitter {
  private parts: Buffer[] = [];
  private size = 0;
  private head: Buffer | undefined;

  constructor(
    private readonly maxBytes: number,
    private readonly handlers: LineHandlers,
  ) {}

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      this.keep(chunk.subarray(from, end));
      this.finish();
      from = end + 1;
    }
    if (from < chunk.length) this.keep(chunk.subarray(from));
  }

  /** Bytes of the present line so far, also of an oversized one. */
  get lineBytes(): number {
    return this.size;
  }

  private keep(piece: Buffer): void {
    this.size += piece.length;
    this.parts.push(piece);
    if (this.size <= this.maxBytes) return;
    const all = Buffer.concat(this.parts);
    this.head ??= Buffer.from(all.subarray(0, KEPT_OF_OVERSIZED));
    this.parts = [Buffer.from(all.subarray(-KEPT_OF_OVERSIZED))];
  }

  private finish(): void {
    const [first] = this.parts;
    const line = this.parts.length === 1 && first ? first : Buffer.concat(this.parts);
    const head = this.head;
    this.parts = [];
    this.size = 0;
    this.head = undefined;
    if (head) this.handlers.onOversized(head, line);
    else this.handlers.onLine(line.at(-1) === 0x0d ? line.subarray(0, -1) : line);
  }
}
