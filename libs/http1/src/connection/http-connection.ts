import {
  type Egress,
  EgressRefused,
  inSeconds,
  type Line,
  PacedReader,
  type ReadingShare,
} from '@app/platform';
import { connect, isIP, Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { AnswerHead } from '../answer/answer-head.js';
import { AnswerReader, type AnswerSink } from '../answer/answer-reader.js';
import { ConnectionEnded } from './connection-ended.js';

/** A connection without a keep-alive timeout is used for this long; servers that close earlier mostly announce it. */
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 600_000;
/** Stop using a connection this long before its keep-alive timeout, as the server's FIN may cross a request. */
const IDLE_MARGIN_MS = 1_000;
const PROBE_AFTER_MS = 60_000;
/** Shared read buffer of all connections: its content is consumed at once, so no buffer is allocated per read. */
const ARRIVALS = Buffer.allocUnsafeSlow(65_536);

/** Answers up to this size skip the check of the clock: most are not longer. */
const QUICK_BYTES = 1_024;

/** One request with the handlers for its answer. */
export interface QueuedRequest extends AnswerSink {
  /** Aborted before it was sent. */
  readonly isOver: boolean;
  /** The principal whose share of the connections it uses; requests of the service have none. */
  readonly principal?: string | undefined;
  /** The head of the request as it is sent. */
  readonly head: string;
  readonly body: string;
  onSent(connection: { destroy(): void }): void;
  /** No answer will come. If `onSent` was not called before, the request was never sent. */
  onError(error: Error): void;
}

interface ConnectionOwner {
  onOpen(connection: HttpConnection): void;
  /** The answer is complete and the connection accepts another request. */
  onFree(connection: HttpConnection): void;
  onClose(connection: HttpConnection, error: Error): void;
}

/** One connection to a server, one request at a time. */
export class HttpConnection implements AnswerSink {
  /**
   * When it opened or its last request was sent, on the clock of the pool. The server cannot have been idle for longer
   * than since then; when its answer ended is known only later, by as much as this process is busy.
   */
  usedAt = 0;
  isOpen = false;
  /** Set while a request is in flight on it. */
  place: Line<QueuedRequest> | undefined;
  private readonly socket: Socket;
  private readonly reader = new AnswerReader(this);
  private readonly paced: PacedReader;
  private request: QueuedRequest | undefined;
  private keepsOpen = false;
  private maxIdleMs = IDLE_MS;
  private error: Error | undefined;
  /** More bytes came with those that are being read. */
  private hasMore = false;

  constructor(
    url: URL,
    connectTimeoutMs: number,
    private readonly owner: ConnectionOwner,
    session: Buffer | undefined,
    egress: Egress,
    reading: ReadingShare,
  ) {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const target = {
      host,
      lookup: egress.lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      onread: {
        buffer: ARRIVALS,
        callback: (length: number): boolean => this.arrive(ARRIVALS.subarray(0, length)),
      },
    };
    const isSecure = url.protocol === 'https:';
    const port = Number(url.port) || (isSecure ? 443 : 80);
    const refusal = egress.hostProblem(host);
    this.socket = refusal
      ? new Socket().destroy(new EgressRefused(refusal))
      : isSecure
        ? connectTls({
            ...target,
            port,
            minVersion: 'TLSv1.2',
            ALPNProtocols: ['http/1.1'],
            ...(isIP(host) === 0 && { servername: host }),
            ...(session && { session }),
          })
        : connect({ ...target, port });
    this.paced = new PacedReader(
      this.socket,
      (piece, hasMore) => this.read(piece, hasMore),
      reading,
    );
    const expire = (): void => {
      this.fail(new ConnectionEnded(`no connection within ${inSeconds(connectTimeoutMs)}`));
    };
    const timer = setTimeout(expire, connectTimeoutMs);
    this.socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      this.isOpen = true;
      owner.onOpen(this);
    });
    // A paused socket emits no `end`.
    this.socket.resume();
    this.socket.on('end', () => this.end());
    this.socket.on('error', (error) =>
      this.fail(error instanceof EgressRefused ? new ConnectionEnded(error.message) : error),
    );
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

  write(request: QueuedRequest): void {
    this.request = request;
    request.onSent(this);
    const { head, body } = request;
    // Header values are bytes, nearly always ASCII; then head and body take one system call.
    if (isAscii(head)) this.socket.write(head + body);
    else this.socket.write(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]));
  }

  /** Whether a request may still be sent on it: servers close idle connections. */
  isFresh(now: number): boolean {
    return now - this.usedAt < this.maxIdleMs && !this.socket.destroyed;
  }

  destroy(): void {
    this.fail(new ConnectionEnded('given up'));
  }

  onHead(head: AnswerHead): void {
    this.keepsOpen = head.keepsOpen;
    const { keepAliveMs } = head;
    this.maxIdleMs =
      keepAliveMs === undefined ? IDLE_MS : Math.min(keepAliveMs - IDLE_MARGIN_MS, MAX_IDLE_MS);
    this.request?.onHead(head);
  }

  onData(bytes: Buffer): void {
    this.request?.onData(bytes);
  }

  onEnd(): void {
    const { request } = this;
    this.request = undefined;
    // A request that is answered before all of it was sent is still being written.
    const isReusable =
      this.keepsOpen &&
      this.maxIdleMs > 0 &&
      this.socket.writableLength === 0 &&
      // Bytes received without a request must not be taken for the next answer.
      !this.hasMore;
    request?.onEnd();
    if (isReusable) this.owner.onFree(this);
    else this.socket.destroy();
  }

  /** Returns false to pause reading from the socket. */
  private arrive(bytes: Buffer): boolean {
    const isQuick = bytes.length <= QUICK_BYTES && this.reader.isAtStart && !this.paced.isHolding;
    if (!isQuick) return this.paced.push(bytes);
    this.read(bytes, false);
    return true;
  }

  private read(bytes: Buffer, hasMore: boolean): void {
    if (this.error) return;
    if (!this.request) return this.fail(new ConnectionEnded('it sent data without a request'));
    this.hasMore = hasMore;
    try {
      this.reader.push(bytes);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private end(): void {
    this.paced.onceRead(() => {
      if (!this.reader.finish()) this.fail(new ConnectionEnded('the server closed the connection'));
    });
  }

  private fail(error: Error): void {
    if (this.error) return;
    this.error = error;
    this.reader.stop();
    this.socket.destroy();
    const { request } = this;
    this.request = undefined;
    request?.onError(error);
  }
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
