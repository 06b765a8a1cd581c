import { EventCursor } from './event-cursor.js';

const MAX_EVENTS = 512;
/** At most two bytes each. */
const MAX_CHARS = 500_000;

/** An event as it goes to a client, with the place of its replica's events that the client has then read up to. */
export interface QueuedEvent {
  readonly replica: string;
  readonly seq: number;
  /** Empty for a new position without an event. */
  readonly text: string;
}

/** What takes frames; false means that it takes no more before it calls `EventQueue.resume`. */
export type FrameWriter = (frame: string) => boolean;

/**
 * The events that one client has not taken yet. A client that does not read gets no backpressure: events beyond the
 * limits are dropped until the queue is empty, and one `gap` event says how many.
 */
export class EventQueue {
  private waiting: QueuedEvent[] = [];
  private chars = 0;
  private lost = 0;
  private skipped = new EventCursor();
  private isBlocked = false;

  constructor(
    readonly cursor: EventCursor,
    private readonly write: FrameWriter,
    /** The envelope of a `gap` event with the number of events that were lost; null if it is not known. */
    private readonly gap: (lost: number | null) => string,
  ) {}

  get size(): number {
    return this.waiting.length;
  }

  /** The client has taken everything. */
  get isIdle(): boolean {
    return !this.isBlocked && this.waiting.length === 0 && this.lost === 0;
  }

  add(event: QueuedEvent): void {
    const isFull = this.waiting.length >= MAX_EVENTS || this.chars + event.text.length > MAX_CHARS;
    if (this.lost > 0 || (isFull && this.waiting.length > 0)) {
      if (event.text !== '') this.lost += 1;
      this.skipped.advance(event.replica, event.seq);
      return;
    }
    this.waiting.push(event);
    this.chars += event.text.length;
    this.flush();
  }

  /** Events may have been missed before this one. */
  addGap(): void {
    if (this.lost === 0) this.add({ replica: '', seq: 0, text: this.gap(null) });
  }

  resume(): void {
    this.isBlocked = false;
    this.flush();
  }

  private flush(): void {
    while (!this.isBlocked) {
      const next = this.waiting.shift();
      if (next) {
        this.chars -= next.text.length;
        if (next.replica !== '') this.cursor.advance(next.replica, next.seq);
        this.isBlocked = !this.write(frameOf(this.cursor, next.text));
      } else if (this.lost > 0) {
        this.tellLost();
      } else return;
    }
  }

  private tellLost(): void {
    for (const replica of this.skipped.replicas) {
      this.cursor.advance(replica, this.skipped.of(replica) ?? 0);
    }
    const text = this.gap(this.lost);
    this.lost = 0;
    this.skipped = new EventCursor();
    this.isBlocked = !this.write(frameOf(this.cursor, text));
  }
}

/** A frame without data only tells the client its position. */
function frameOf(cursor: EventCursor, text: string): string {
  const id = cursor.toString();
  return text === '' ? `id: ${id}\n\n` : `id: ${id}\ndata: ${text}\n\n`;
}
