import { setImmediate } from 'node:timers/promises';

const EVERY_MS = 15_000;
/** Streams that are written to in one turn of the event loop. */
const AT_ONCE = 100;

/** Sends keep-alive comments on idle streams: one timer for all of them. */
export class KeepAlive {
  private readonly streams = new Set<{ ping(): void }>();
  private readonly timer = setInterval(() => void this.pingAll(), EVERY_MS).unref();

  get size(): number {
    return this.streams.size;
  }

  add(stream: { ping(): void }): void {
    this.streams.add(stream);
  }

  remove(stream: { ping(): void }): void {
    this.streams.delete(stream);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async pingAll(): Promise<void> {
    let count = 0;
    for (const stream of this.streams) {
      stream.ping();
      if (++count % AT_ONCE === 0) await setImmediate();
    }
  }
}
