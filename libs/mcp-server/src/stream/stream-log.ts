import { type Clock, type SharedBytes, Shares, type UnsentBytes } from '@app/platform';
import type { RpcMessage } from '@app/mcp-protocol';
import { sharedBytesOf, type SseStream } from './sse-stream.js';

/** Time for a client to resume a stream. */
const KEEP_MS = 300_000;
/** Memory of an event besides its bytes. */
const ENTRY_BYTES = 500;

interface KeptEvent {
  readonly log: StreamLog;
  readonly number: number;
  readonly data: SharedBytes;
  readonly at: number;
}

/**
 * Recent events of the streams of all sessions, bounded in bytes and time. The oldest event of the principal with
 * the most bytes is evicted first, so that the answers of one client do not evict those of another.
 */
export class KeptEvents {
  private readonly events = new Map<string, Set<KeptEvent>>();
  private readonly bytes = new Shares();

  constructor(
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly unsent: UnsentBytes,
  ) {}

  keep(log: StreamLog, number: number, data: SharedBytes): KeptEvent {
    const event = { log, number, data, at: this.clock.monotonic() };
    let events = this.events.get(log.owner);
    if (!events) this.events.set(log.owner, (events = new Set()));
    events.add(event);
    this.bytes.add(log.owner, data.size + ENTRY_BYTES);
    this.unsent.keep(data);
    return event;
  }

  /** Drops the expired events of this principal, and the oldest events beyond the byte budget. */
  trim(owner: string): void {
    this.trimByAge(owner);
    while (this.bytes.total > this.unsent.keepable) {
      const largest = this.bytes.largest();
      const [oldest] = (largest !== undefined && this.events.get(largest)) || [];
      if (!oldest) return;
      this.evict(oldest);
    }
  }

  trimAll(): void {
    for (const owner of this.events.keys()) this.trim(owner);
  }

  drop(event: KeptEvent): void {
    const { owner } = event.log;
    const events = this.events.get(owner);
    if (!events?.delete(event)) return;
    if (events.size === 0) this.events.delete(owner);
    this.bytes.remove(owner, event.data.size + ENTRY_BYTES);
    this.unsent.letGo(event.data);
  }

  private trimByAge(owner: string): void {
    const since = this.clock.monotonic() - KEEP_MS;
    for (const event of this.events.get(owner) ?? []) {
      if (event.at > since) return;
      this.evict(event);
    }
  }

  private evict(event: KeptEvent): void {
    this.drop(event);
    event.log.dropOldest();
  }
}

/**
 * One event stream of a session, over any number of connections ("Resumability" of the specification): a client
 * that reconnects gets the events after the last one it has seen.
 */
export class StreamLog {
  private readonly events: KeptEvent[] = [];
  private last = 0;
  /** The number of the last event sent to the reader. */
  private sent = 0;
  private isOver = false;
  private isDiscarded = false;

  constructor(
    readonly owner: string,
    private readonly name: number,
    private readonly kept: KeptEvents,
    private reader: SseStream | undefined,
    /** Called when the stream can no longer be resumed. */
    private readonly onGone: () => void,
  ) {}

  get isRead(): boolean {
    return this.reader?.isOpen === true;
  }

  send(message: RpcMessage): void {
    this.sendBytes(sharedBytesOf(message));
  }

  sendBytes(data: SharedBytes): void {
    const number = ++this.last;
    if (!this.isDiscarded) this.events.push(this.kept.keep(this, number, data));
    if (this.reader && this.sent === number - 1) {
      this.reader.sendBytes(data, this.idOf(number));
      this.sent = number;
    }
    this.kept.trim(this.owner);
  }

  end(): void {
    this.isOver = true;
    this.feed();
    if (this.events.length === 0) this.onGone();
  }

  /** Drops the kept events when the session ends: the stream cannot be resumed, but its reader still gets new ones. */
  discard(): void {
    this.isDiscarded = true;
    for (const event of this.events.splice(0)) this.kept.drop(event);
  }

  /** Whether all events after this one are still kept. */
  reaches(number: number): boolean {
    const first = this.events[0]?.number ?? this.last + 1;
    return number <= this.last && number >= first - 1;
  }

  /** Replays the events after `after` to this reader, which then gets new ones too. */
  continueOn(reader: SseStream | undefined, after = this.last): void {
    this.reader = reader;
    this.sent = after;
    this.feed();
  }

  /** Switches new events to this reader, without a replay. */
  moveTo(reader: SseStream | undefined): void {
    if (reader !== this.reader) this.continueOn(reader);
  }

  dropOldest(): void {
    this.events.shift();
    if (this.isOver && this.events.length === 0) this.onGone();
  }

  /** Sends missed events with backpressure: they stay in the log until the reader catches up. */
  private feed(): void {
    const { reader } = this;
    while (reader && this.sent < this.last) {
      if (reader.isBehind) return reader.onceRead(() => this.reader === reader && this.feed());
      const event = this.events[this.sent + 1 - (this.events[0]?.number ?? 0)];
      // The next event was evicted while the reader was behind: the client has to start again.
      if (!event) return reader.end();
      reader.sendBytes(event.data, this.idOf(event.number));
      this.sent = event.number;
    }
    if (!this.isOver) return;
    reader?.end();
    this.reader = undefined;
  }

  private idOf(number: number): string {
    return `${this.name}-${number}`;
  }
}

/** The stream number and the event number of an event id. */
export function readEventId(id: string): { name: number; number: number } | undefined {
  const [, name, number] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return name === undefined ? undefined : { name: Number(name), number: Number(number) };
}
