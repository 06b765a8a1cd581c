import type { ServerResponse } from 'node:http';
import { bytesOf, type RpcMessage } from './rpc.js';

const KEEP_ALIVE_MS = 15_000;
/** A reader that is this far behind is not reading. */
const MAX_UNREAD_BYTES = 64 * 1_048_576;

/** Server-sent events on an HTTP response. */
export class SseStream {
  private readonly keepAlive: NodeJS.Timeout;

  constructor(
    private readonly response: ServerResponse,
    headers: readonly string[],
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
    this.keepAlive = setInterval(() => this.write(': keepalive\n\n'), KEEP_ALIVE_MS);
    this.keepAlive.unref();
    response.once('close', () => clearInterval(this.keepAlive));
  }

  get isOpen(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  send(message: RpcMessage): void {
    this.sendBytes(bytesOf(message, true));
  }

  /** A message on one line; with an id, its client can ask for what comes after. */
  sendBytes(data: string | Buffer, id?: string): void {
    const head = `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: `;
    if (typeof data === 'string') return this.write(`${head}${data}\n\n`);
    this.response.cork();
    this.write(head);
    this.write(data);
    this.write('\n\n');
    this.response.uncork();
  }

  end(): void {
    clearInterval(this.keepAlive);
    this.response.end();
  }

  private write(text: string | Buffer): void {
    if (!this.isOpen) return;
    this.response.write(text);
    if (this.response.writableLength > MAX_UNREAD_BYTES) this.response.destroy();
  }
}
