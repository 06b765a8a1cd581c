import type { SseStream } from '../stream/sse-stream.js';

/** Only the newest is written to; a client that opens more has lost the others. */
const MAX_STREAMS = 4;

/** The GET streams of a client, for messages that belong to no request. */
export class StandingStreams {
  private readonly streams: SseStream[] = [];

  get size(): number {
    return this.streams.length;
  }

  get newestOpen(): SseStream | undefined {
    return this.streams.findLast((stream) => stream.isOpen);
  }

  /** Returns whether the oldest stream had to be closed. */
  add(stream: SseStream): boolean {
    this.streams.push(stream);
    if (this.streams.length <= MAX_STREAMS) return false;
    this.streams.shift()?.end();
    return true;
  }

  remove(stream: SseStream): void {
    const place = this.streams.indexOf(stream);
    if (place >= 0) this.streams.splice(place, 1);
  }

  endAll(): void {
    for (const stream of this.streams.splice(0)) stream.end();
  }
}
