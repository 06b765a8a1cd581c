import { loopPace } from './loop-pace.js';
import type { ReadingShare } from './reading-share.js';

/** Reading a piece should not take longer, in milliseconds. */
const PIECE_MS = 0.25;
const MIN_PIECE_BYTES = 512;
const FIRST_PIECE_BYTES = 4_096;
const MAX_PIECE_BYTES = 65_536;

interface PausableSource {
  pause(): void;
  resume(): void;
}

/**
 * Reads what a stream delivers in pieces that take a fraction of a millisecond, whatever is in them. Between two pieces
 * it gives way to other work when the time of this turn of the event loop is used up or the share of the server is;
 * meanwhile it holds what was delivered, and the stream is paused.
 */
export class PacedReader {
  private held: Buffer[] = [];
  private pieceBytes = FIRST_PIECE_BYTES;
  private isHurried = false;
  private pause: NodeJS.Timeout | undefined;
  private whenRead: (() => void) | undefined;

  constructor(
    private readonly source: PausableSource,
    /** `hasMore`: more bytes were delivered together with the piece. */
    private readonly read: (piece: Buffer, hasMore: boolean) => void,
    private readonly share: ReadingShare,
  ) {}

  /** Whether something that was delivered is not read yet. */
  get isHolding(): boolean {
    return this.held.length > 0;
  }

  /** False when the stream was paused. The bytes are copied if they are held. */
  push(bytes: Buffer): boolean {
    if (!this.isHolding) {
      // Short answers of others are not delayed by long ones.
      const isShort = bytes.length <= FIRST_PIECE_BYTES && this.shareWaitMs === 0;
      const rest = this.readPieces(bytes, isShort);
      if (rest.length === 0) return true;
      this.held.push(Buffer.from(rest));
      this.awaitTurn();
    } else this.held.push(Buffer.from(bytes));
    this.source.pause();
    return false;
  }

  /** Ignores the share from now on: the server has ended, so that little is left to read. */
  hurry(): void {
    this.isHurried = true;
    if (!this.pause) return;
    clearTimeout(this.pause);
    this.awaitTurn();
  }

  /** Calls back once everything that was delivered is read. */
  onceRead(listener: () => void): void {
    if (this.isHolding) this.whenRead = listener;
    else listener();
  }

  private get shareWaitMs(): number {
    return this.isHurried ? 0 : this.share.waitMs;
  }

  /** Returns what it may not read now. */
  private readPieces(bytes: Buffer, mayBegin: boolean): Buffer {
    let at = 0;
    let mayRead = mayBegin;
    while (at < bytes.length) {
      if (!mayRead && (loopPace.isOver || this.shareWaitMs > 0)) return bytes.subarray(at);
      mayRead = false;
      const piece = bytes.subarray(at, at + this.pieceBytes);
      at += piece.length;
      this.readPiece(piece, at < bytes.length || this.held.length > 1);
    }
    return EMPTY;
  }

  private readPiece(piece: Buffer, hasMore: boolean): void {
    this.share.beginPiece();
    const ms = loopPace.run(() => this.read(piece, hasMore));
    this.share.endPiece(piece.length, ms);
    if (ms > PIECE_MS) this.pieceBytes = Math.max(MIN_PIECE_BYTES, this.pieceBytes / 2);
    else if (piece.length === this.pieceBytes)
      this.pieceBytes = Math.min(MAX_PIECE_BYTES, this.pieceBytes * 2);
  }

  private awaitTurn(): void {
    const waitMs = this.shareWaitMs;
    this.pause = waitMs > 0 ? setTimeout(() => this.goOn(), waitMs) : undefined;
    if (!this.pause) loopPace.later(() => this.goOn());
  }

  private goOn(): void {
    this.pause = undefined;
    for (let [bytes] = this.held; bytes; [bytes] = this.held) {
      const rest = this.readPieces(bytes, false);
      if (rest.length > 0) {
        this.held[0] = rest;
        return this.awaitTurn();
      }
      this.held.shift();
    }
    this.source.resume();
    const { whenRead } = this;
    this.whenRead = undefined;
    whenRead?.();
  }
}
const EMPTY = Buffer.alloc(0);
