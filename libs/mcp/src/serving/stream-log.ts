import type { Clock } from '@app/platform';
import { bytesOf, type RpcMessage } from './rpc.js';
import type { SseStream } from './sse-stream.js';

const MAX_BYTES = 64 * 1_048_576;
const MAX_EVENTS = 20_000;
/** How long a client may be away. */
const KEEP_MS = 300_000;

interface KeptEvent {
  readonly log: StreamLog;
  readonly number: number;
  readonly data: string | Buffer;
  readonly size: number;
  readonly at: number;
}

/** What streams of all sessions have carried lately: bounded in bytes, events and time, the oldest goes first. */
export class KeptEvents {
  private readonly events = new Set<KeptEvent>();
  private bytes = 0;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  keep(log: StreamLog, number: number, data: string | Buffer): KeptEvent {
    const at = this.clock.now().getTime();
    const event = { log, number, data, size: Buffer.byteLength(data), at };
    this.events.add(event);
    this.bytes += event.size;
    return event;
  }

  /** Lets go of what is too old or too much. */
  trim(): void {
    const since = this.clock.now().getTime() - KEEP_MS;
    for (const event of this.events) {
      const isTooMuch = this.bytes > MAX_BYTES || this.events.size > MAX_EVENTS;
      if (!isTooMuch && event.at > since) return;
      this.events.delete(event);
      this.bytes -= event.size;
      event.log.dropOldest();
    }
  }
}

/**
 * One stream of events of a session, over as many connections as its client takes for it ("Resumability"
 * of the specification): who lost one asks for what came after the last event it has seen.
 */
export class StreamLog {
  private readonly events: KeptEvent[] = [];
  private last = 0;
  private isOver = false;

  constructor(
    private readonly name: number,
    private readonly kept: KeptEvents,
    private reader: SseStream | undefined,
    /** Nothing of it can be asked for any more. */
    private readonly onGone: () => void,
  ) {}

  send(message: RpcMessage): void {
    const data = bytesOf(message, true);
    const number = ++this.last;
    this.events.push(this.kept.keep(this, number, data));
    this.reader?.sendBytes(data, this.idOf(number));
    this.kept.trim();
  }

  end(): void {
    this.isOver = true;
    this.reader?.end();
    this.reader = undefined;
    if (this.events.length === 0) this.onGone();
  }

  /** Whether everything after that event is still known. */
  reaches(number: number): boolean {
    const first = this.events[0]?.number ?? this.last + 1;
    return number <= this.last && number >= first - 1;
  }

  /** From now on it is read here; first what was missed. */
  continueOn(reader: SseStream | undefined, after = this.last): void {
    for (const { number, data } of this.events) {
      if (number > after) reader?.sendBytes(data, this.idOf(number));
    }
    if (this.isOver) reader?.end();
    else this.reader = reader;
  }

  dropOldest(): void {
    this.events.shift();
    if (this.isOver && this.events.length === 0) this.onGone();
  }

  private idOf(number: number): string {
    return `${this.name}-${number}`;
  }
}

/** The two numbers of an event id. */
export function readEventId(id: string): { name: number; number: number } | undefined {
  const [, name, number] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return name === undefined ? undefined : { name: Number(name), number: Number(number) };
}
