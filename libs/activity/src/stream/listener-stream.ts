import type { ServerResponse } from 'node:http';
import type { ActivityEvent } from '../feed/activity-event.js';
import type { ActivityFeed, EventFilter, FeedListener } from '../feed/activity-feed.js';
import type { EventCursor } from './event-cursor.js';
import { EventQueue, type QueuedEvent } from './event-queue.js';

/** How long a browser waits before it connects again. */
const RETRY_MS = 2_000;
/** Read at once of what is kept for a client that comes back; less than its queue takes. */
const REPLAYED_AT_ONCE = 100;

export interface StreamHead {
  /** Sent with the response: names and values in turn. */
  readonly headers: readonly string[];
  readonly filter: EventFilter;
  /** Where the client continues; undefined for one that begins. */
  readonly cursor: EventCursor;
  /** The envelope of a `gap` event. */
  readonly gap: (lost: number | null) => string;
}

/** One client of the event stream: server-sent events on an HTTP response, which is never waited for. */
export class ListenerStream implements FeedListener {
  readonly topics: EventFilter['topics'];
  readonly serverIds: EventFilter['serverIds'];
  readonly isAdmin: boolean;
  private readonly queue: EventQueue;
  private readonly leave: () => void;
  /** The number of the last event here that was read for it; undefined once it hears events as they happen. */
  private replayed: number | undefined;
  /** A gap was told of what was lost up to this number. */
  private toldLost = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly feed: ActivityFeed,
    { headers, filter, cursor, gap }: StreamHead,
  ) {
    this.topics = filter.topics;
    this.serverIds = filter.serverIds;
    this.isAdmin = filter.isAdmin;
    this.queue = new EventQueue(cursor, (frame) => response.write(frame), gap);
    response.writeHead(200, [
      ...headers,
      'content-type',
      'text/event-stream',
      'cache-control',
      'no-cache, no-transform',
      'x-accel-buffering',
      'no',
    ]);
    response.write(`retry: ${RETRY_MS}\n\n`);
    response.on('drain', () => {
      this.queue.resume();
      this.replay();
    });
    // What happens from now on is kept, so that it is replayed too.
    this.leave = feed.listen(this);
    this.continueAt(cursor);
    response.once('close', () => this.leave());
  }

  get cursor(): EventCursor {
    return this.queue.cursor;
  }

  receive(event: ActivityEvent): void {
    // Else it is read from what is kept, after those before it.
    if (this.replayed === undefined) this.add(event);
  }

  private add({ seq, text, adminText }: ActivityEvent): void {
    this.queue.add({ replica: this.feed.replica, seq, text: this.isAdmin ? adminText : text });
  }

  /** An event of another replica. */
  pass(event: QueuedEvent): void {
    this.queue.add(event);
  }

  /** Events of another replica may have been missed. */
  passGap(): void {
    this.queue.addGap();
  }

  /** Nothing is written to a client that has not taken what was written before. */
  ping(): void {
    if (this.response.writableLength === 0) this.response.write(': keepalive\n\n');
  }

  end(): void {
    this.leave();
    this.response.end();
  }

  /** Sends what happened here since, or where the client begins. */
  private continueAt(cursor: EventCursor): void {
    const seen = cursor.of(this.feed.replica);
    if (seen === undefined && cursor.replicas.length === 0) return this.addPosition();
    // Its events of a process that has ended may have been lost with it.
    if (seen === undefined || this.feed.wasUnheard(this, seen)) this.queue.addGap();
    this.replayed = seen ?? 0;
    this.replay();
  }

  private addPosition(): void {
    const { replica, lastSeq } = this.feed;
    this.queue.add({ replica, seq: lastSeq, text: '' });
  }

  /** As far as the client takes it: a queue of all that is kept would be too large. */
  private replay(): void {
    while (this.replayed !== undefined && this.queue.isIdle) {
      const { events, lostUpTo } = this.feed.missed(this, this.replayed, REPLAYED_AT_ONCE);
      if (lostUpTo > Math.max(this.replayed, this.toldLost)) {
        this.toldLost = lostUpTo;
        this.queue.addGap();
      }
      for (const event of events) this.add(event);
      this.replayed = events.at(-1)?.seq;
      if (events.length === 0) this.addPosition();
    }
  }
}
