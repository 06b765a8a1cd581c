import { loopPace, SharedBytes, type UnsentBytes, type UnsentReader } from '@app/platform';
import { messageBytes, type RpcMessage } from '@app/mcp-protocol';
import type { ServerResponse } from 'node:http';
import type { KeepAlive } from './keep-alive.js';

/** Bytes handed to the connection ahead of its reading; the rest is queued here, where it can be shared. */
const WINDOW_BYTES = 65_536;
/** Copying a larger message to the kernel would block the event loop. */
const QUICK_BYTES = 16_384;

/** Dependencies that all streams share. */
export interface StreamDependencies {
  readonly unsent: UnsentBytes;
  readonly keepAlive: KeepAlive;
}

interface Waiting {
  readonly head: string;
  readonly data: SharedBytes;
  next: Waiting | undefined;
}

/** Server-sent events on an HTTP response, written with backpressure. */
export class SseStream implements UnsentReader {
  /** Messages that the connection has not taken, oldest first; those before `unwritten` are handed to it already. */
  private first: Waiting | undefined;
  private last: Waiting | undefined;
  private unwritten: Waiting | undefined;
  /** Counts of messages: handed to the connection, reported as taken by it, and released. */
  private written = 0;
  private taken = 0;
  private released = 0;
  private readListener: (() => void) | undefined;
  private isPaced = false;
  private isEnding = false;
  private isGone = false;

  constructor(
    private readonly response: ServerResponse,
    headers: readonly string[],
    private readonly owner: string,
    private readonly deps: StreamDependencies,
  ) {
    response.writeHead(200, [
      ...headers,
      'content-type',
      'text/event-stream',
      'cache-control',
      'no-cache, no-transform',
      'x-accel-buffering',
      'no',
    ]);
    response.flushHeaders();
    deps.keepAlive.add(this);
    response.once('close', () => this.gone());
  }

  get isOpen(): boolean {
    return !this.isEnding && !this.isGone && !this.response.destroyed;
  }

  get isRead(): boolean {
    return this.isOpen;
  }

  /** Whether messages are queued for the reader. */
  get isBehind(): boolean {
    return this.unwritten !== undefined;
  }

  /** Calls back when the queue is empty, or the reader has disconnected. */
  onceRead(listener: () => void): void {
    if (this.isBehind) this.readListener = listener;
    else listener();
  }

  send(message: RpcMessage): void {
    this.sendBytes(sharedBytesOf(message));
  }

  /** Sends a message on one line; with an event id, its client can resume after it. */
  sendBytes(data: SharedBytes, id?: string): void {
    if (!this.isOpen) return;
    const head = `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: `;
    const waiting: Waiting = { head, data, next: undefined };
    if (this.last) this.last.next = waiting;
    this.first ??= waiting;
    this.last = waiting;
    this.unwritten ??= waiting;
    this.deps.unsent.hold(this.response.req.socket, this.owner, this, data);
    this.write();
  }

  ping(): void {
    if (this.isOpen && !this.first) this.response.write(': keepalive\n\n');
  }

  /** Ends the stream after the queue is read. */
  end(): void {
    this.isEnding = true;
    this.deps.keepAlive.remove(this);
    if (!this.unwritten) this.response.end();
  }

  drop(): void {
    this.isGone = true;
    for (let at = this.first; at; at = at.next) this.deps.unsent.letGo(at.data);
    this.first = this.last = this.unwritten = undefined;
    this.tellRead();
  }

  private write(): void {
    while (this.unwritten && this.response.writableLength < WINDOW_BYTES) {
      const waiting = this.unwritten;
      if (waiting.data.size <= QUICK_BYTES) this.writeOne(waiting);
      else if (loopPace.isOver) return this.writeLater();
      else loopPace.run(() => this.writeOne(waiting));
    }
    if (this.unwritten) return;
    if (this.isEnding) this.response.end();
    this.tellRead();
  }

  private writeLater(): void {
    if (this.isPaced) return;
    this.isPaced = true;
    loopPace.later(() => {
      this.isPaced = false;
      this.write();
    });
  }

  private writeOne({ head, data, next }: Waiting): void {
    this.unwritten = next;
    this.response.cork();
    this.response.write(head);
    this.response.write(data.bytes);
    this.response.write('\n\n', this.onWritten);
    this.response.uncork();
    this.written += 1;
    // A fast reader takes a message at once; its write callback would come only later.
    if (this.response.writableLength === 0) this.releaseUpTo(this.written);
  }

  private tellRead(): void {
    const listener = this.readListener;
    this.readListener = undefined;
    listener?.();
  }

  /** Called in the order of the writes. */
  private readonly onWritten = (): void => {
    this.releaseUpTo(++this.taken);
    this.write();
  };

  private releaseUpTo(number: number): void {
    while (this.first && this.released < number) {
      const { data, next } = this.first;
      this.first = next;
      if (!next) this.last = undefined;
      this.released += 1;
      this.deps.unsent.release(this.response.req.socket, this, data);
    }
  }

  private gone(): void {
    this.isGone = true;
    this.deps.keepAlive.remove(this);
    this.unwritten = undefined;
    this.releaseUpTo(Infinity);
    this.tellRead();
  }
}

/** The bytes of a message as streams carry it. */
export function sharedBytesOf(message: RpcMessage): SharedBytes {
  const bytes = messageBytes(message, true);
  return new SharedBytes(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
}
