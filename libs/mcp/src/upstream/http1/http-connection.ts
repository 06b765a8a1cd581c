import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { AnswerHead } from './answer-head.js';
import { AnswerReader, type AnswerSink } from './answer-reader.js';
import { ConnectionEnded } from './connection-ended.js';

/** As agreed upon by silence: servers that close earlier mostly say so. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** An answer of the server's closing may be on its way while a request is. */
const IDLE_MARGIN_MS = 1_000;
const PROBE_AFTER_MS = 60_000;
/** What any connection reads arrives here and is used up at once, so that no buffer is made for it. */
const ARRIVALS = Buffer.allocUnsafeSlow(65_536);

/** One request and whoever waits for its answer. */
export interface Exchange extends AnswerSink {
  /** Given up before it was sent. */
  readonly isOver: boolean;
  /** The request as it goes out. */
  readonly head: string;
  readonly body: string;
  onSent(connection: { destroy(): void }): void;
  /** No answer will come. Without `onSent` before it the request never left. */
  onError(error: Error): void;
}

interface ConnectionOwner {
  onOpen(connection: HttpConnection): void;
  /** Its answer is whole and it takes another request. */
  onFree(connection: HttpConnection): void;
  onClose(connection: HttpConnection, error: Error): void;
}

/** One connection to a server, one request at a time. */
export class HttpConnection implements AnswerSink {
  /** On the clock of `performance.now()`, when it waits for a request. */
  idleSince = 0;
  isOpen = false;
  private readonly socket: Socket;
  private readonly reader = new AnswerReader(this);
  private exchange: Exchange | undefined;
  private keepsOpen = false;
  private maxIdleMs = IDLE_MS;
  private error: Error | undefined;

  constructor(
    url: URL,
    connectTimeoutMs: number,
    private readonly owner: ConnectionOwner,
    session: Buffer | undefined,
  ) {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const target = {
      host,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      onread: {
        buffer: ARRIVALS,
        callback: (length: number): boolean => {
          this.read(ARRIVALS.subarray(0, length));
          return true;
        },
      },
    };
    const isSecure = url.protocol === 'https:';
    const port = Number(url.port) || (isSecure ? 443 : 80);
    this.socket = isSecure
      ? connectTls({
          ...target,
          port,
          minVersion: 'TLSv1.2',
          ALPNProtocols: ['http/1.1'],
          ...(isIP(host) === 0 && { servername: host }),
          ...(session && { session }),
        })
      : connect({ ...target, port });
    const expire = (): void => {
      const seconds = connectTimeoutMs / 1_000;
      this.fail(new ConnectionEnded(`no connection within ${seconds} s`));
    };
    const timer = setTimeout(expire, connectTimeoutMs);
    this.socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      this.isOpen = true;
      owner.onOpen(this);
    });
    // Otherwise its end is not told.
    this.socket.resume();
    this.socket.on('end', () => this.end());
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => {
      clearTimeout(timer);
      const error = this.error ?? new ConnectionEnded('the connection was closed');
      this.fail(error);
      owner.onClose(this, error);
    });
  }

  onTlsSession(keep: (session: Buffer) => void): void {
    (this.socket as TLSSocket).on('session', keep);
  }

  send(exchange: Exchange): void {
    this.exchange = exchange;
    exchange.onSent(this);
    const { head, body } = exchange;
    // Values of headers are bytes, nearly always ASCII; then all goes out with one call of the system.
    if (isAscii(head)) this.socket.write(head + body);
    else this.socket.write(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]));
  }

  /** Whether a request may still go out on it: servers end what is idle for long. */
  isFresh(now: number): boolean {
    return now - this.idleSince < this.maxIdleMs && !this.socket.destroyed;
  }

  destroy(): void {
    this.fail(new ConnectionEnded('given up'));
  }

  onHead(head: AnswerHead): void {
    this.keepsOpen = head.keepsOpen;
    const { keepAliveMs } = head;
    this.maxIdleMs =
      keepAliveMs === undefined ? IDLE_MS : Math.min(keepAliveMs - IDLE_MARGIN_MS, MAX_IDLE_MS);
    this.exchange?.onHead(head);
  }

  onData(bytes: Buffer): void {
    this.exchange?.onData(bytes);
  }

  onEnd(): void {
    const { exchange } = this;
    this.exchange = undefined;
    // What is answered before it was all sent is still being sent.
    const isReusable = this.keepsOpen && this.maxIdleMs > 0 && this.socket.writableLength === 0;
    exchange?.onEnd();
    if (isReusable) this.owner.onFree(this);
    else this.socket.destroy();
  }

  private read(bytes: Buffer): void {
    if (!this.exchange) return this.fail(new ConnectionEnded('it spoke unasked'));
    try {
      this.reader.push(bytes);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private end(): void {
    if (!this.reader.finish()) this.fail(new ConnectionEnded('the server closed the connection'));
  }

  private fail(error: Error): void {
    if (this.error) return;
    this.error = error;
    this.reader.stop();
    this.socket.destroy();
    const { exchange } = this;
    this.exchange = undefined;
    exchange?.onError(error);
  }
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
