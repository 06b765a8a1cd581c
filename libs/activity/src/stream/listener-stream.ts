import type { ServerResponse } from 'node:http';
import type { ActivityEvent } from '../feed/activity-event.js';
import type { ActivityFeed, EventFilter, FeedListener } from '../feed/activity-feed.js';
import type { EventCursor } from './event-cursor.js';
import { EventQueue, type QueuedEvent } from './event-queue.js';

/** How long a browser waits before it connects again. */
const RETRY_MS = 2_000;

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
    response.on('drain', () => this.queue.resume());
    this.continueAt(cursor);
    this.leave = feed.listen(this);
    response.once('close', () => this.leave());
  }

  get cursor(): EventCursor {
    return this.queue.cursor;
  }

  receive({ seq, text, adminText }: ActivityEvent): void {
    this.queue.add({ replica: this.feed.replica, seq, text: this.isAdmin ? adminText : text });
  }

  /** An event of another replica. */
  pass(event: QueuedEvent): void {
    this.queue.add(event);
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
    const { replica, lastSeq } = this.feed;
    const seen = cursor.of(replica);
    if (seen === undefined && cursor.replicas.length === 0) {
      this.queue.add({ replica, seq: lastSeq, text: '' });
      return;
    }
    const { events, isWhole } = this.feed.missed(this, seen ?? 0);
    // Its events of a process that has ended may have been lost with it.
    if (seen === undefined || !isWhole) this.queue.addGap();
    for (const event of events) this.receive(event);
    this.queue.add({ replica, seq: lastSeq, text: '' });
  }
}
