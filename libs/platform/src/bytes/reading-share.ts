/** Part of the time of the event loop for what one server sends without a request, and for that of all servers together. */
const SHARE_OF_ONE = 0.25;
const SHARE_OF_ALL = 0.5;
/** What a server may use at once, in milliseconds: a burst of this size is read without a pause. */
const CREDIT_MS = 2;
/** Limits of what one piece counts: a pause of the process is not the fault of the server. */
const MAX_MESSAGE_MS = 10;
const MAX_PART_MS = 0.5;
/** Reading the bytes of a long message takes less; more is the work of tiny chunks, comments or empty lines. */
const FREE_MS_PER_BYTE = 2e-6;
/** Such work counts half: it may belong to an answer. */
const WEIGHT_OF_PART = 0.5;

/** Time that leaks at a constant rate. */
class LeakyTime {
  private usedMs = 0;
  private at = 0;

  constructor(
    private readonly share: number,
    private readonly now: () => number,
  ) {}

  add(ms: number): void {
    this.leak();
    this.usedMs += ms;
  }

  /** Until the used time is within the credit; 0 when it is. */
  get waitMs(): number {
    this.leak();
    return Math.max(0, this.usedMs - CREDIT_MS) / this.share;
  }

  private leak(): void {
    const now = this.now();
    this.usedMs = Math.max(0, this.usedMs - (now - this.at) * this.share);
    this.at = now;
  }
}

const clock = (): number => performance.now();
const all = new LeakyTime(SHARE_OF_ALL, clock);

/**
 * Limits the time that reading from one server takes. Answers to requests that wait are free; everything else counts,
 * and when the share is used up the streams of the server are paused, so that a server that floods is slowed down by
 * backpressure, not by dropping messages.
 */
export class ReadingShare {
  private readonly own: LeakyTime;
  private delivered: 'nothing' | 'message' | 'answer' = 'nothing';

  constructor(
    now = clock,
    private readonly total: Pick<LeakyTime, 'add' | 'waitMs'> = all,
  ) {
    this.own = new LeakyTime(SHARE_OF_ONE, now);
  }

  /** Time until more may be read; 0 when it may be read now. */
  get waitMs(): number {
    const { waitMs } = this.own;
    return waitMs === 0 ? 0 : Math.max(waitMs, this.total.waitMs);
  }

  /** The piece that is being read completed a message that no request waits for. */
  noteMessage(): void {
    if (this.delivered === 'nothing') this.delivered = 'message';
  }

  /** The piece that is being read completed the answer to a request that waits. */
  noteAnswer(): void {
    this.delivered = 'answer';
  }

  /** The piece that is being read completed several messages at once, an answer possibly among them. */
  noteBatch(): void {
    this.delivered = 'message';
  }

  beginPiece(): void {
    this.delivered = 'nothing';
  }

  /** The piece had this size and was read in this time. */
  endPiece(bytes: number, ms: number): void {
    const { delivered } = this;
    if (delivered === 'answer') return;
    const counted =
      delivered === 'message'
        ? Math.min(ms, MAX_MESSAGE_MS)
        : Math.min(ms - bytes * FREE_MS_PER_BYTE, MAX_PART_MS) * WEIGHT_OF_PART;
    if (counted <= 0) return;
    this.own.add(counted);
    this.total.add(counted);
  }
}
