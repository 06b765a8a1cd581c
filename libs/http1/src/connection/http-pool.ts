import { Egress, FairQueue, ReadingShare } from '@app/platform';
import { ConnectionEnded } from './connection-ended.js';
import { type QueuedRequest, HttpConnection } from './http-connection.js';

/** Maximum number of concurrent requests to one server; more wait for a free connection. */
const MAX_CONNECTIONS = 256;
const SWEEP_EVERY_MS = 1_000;

/**
 * Keep-alive connections to one origin. Requests are sent once and never repeated: deadlines and retries belong to
 * the caller, which knows whether a request is idempotent (docs/decisions/0703).
 *
 * Requests of one turn of the event loop are sent together at its end: an idle server process wakes up once for
 * all of them, not once per request.
 */
export class HttpPool {
  readonly host: string;
  private readonly connections = new Set<HttpConnection>();
  /** Last in, first out, so that surplus connections reach their idle timeout. */
  private readonly idle: HttpConnection[] = [];
  /** Answered in this turn of the event loop or the one before: a close by the server is only seen after that. */
  private freed: HttpConnection[] = [];
  private resting: HttpConnection[] = [];
  /** Requests that wait for the end of the turn, or for a connection. */
  private readonly waiting = new FairQueue<QueuedRequest>(MAX_CONNECTIONS);
  private opening = 0;
  private isTurnAhead = false;
  private isDestroyed = false;
  private tlsSession: Buffer | undefined;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    readonly url: URL,
    private readonly connectTimeoutMs: number,
    private readonly egress = new Egress(),
    readonly reading = new ReadingShare(),
    private readonly now: () => number = () => performance.now(),
  ) {
    this.host = url.host;
  }

  send(request: QueuedRequest): void {
    if (this.isDestroyed) return request.onError(new ConnectionEnded('the connection was closed'));
    this.waiting.add(request);
    this.awaitTurn();
  }

  destroy(): void {
    this.isDestroyed = true;
    clearInterval(this.sweeper);
    for (const connection of this.connections) connection.destroy();
    for (const request of this.waiting.drain()) {
      request.onError(new ConnectionEnded('the connection was closed'));
    }
  }

  onOpen(connection: HttpConnection): void {
    this.opening -= 1;
    connection.usedAt = this.now();
    this.keep(connection);
    this.awaitTurn();
  }

  onFree(connection: HttpConnection): void {
    this.releasePlaceOf(connection);
    this.freed.push(connection);
    this.awaitTurn();
  }

  /** A request in flight on it gets its own error. A connection that never opened fails the oldest waiting request. */
  onClose(connection: HttpConnection, error: Error): void {
    this.connections.delete(connection);
    this.releasePlaceOf(connection);
    const place = this.idle.indexOf(connection);
    if (place >= 0) this.idle.splice(place, 1);
    if (!connection.isOpen) {
      this.opening -= 1;
      this.failNext(error);
    }
    if (!this.waiting.isEmpty) this.awaitTurn();
  }

  private failNext(error: Error): void {
    const line = this.waiting.pick();
    if (!line) return;
    const request = this.waiting.take(line);
    this.waiting.release(line);
    request?.onError(error);
  }

  private releasePlaceOf(connection: HttpConnection): void {
    if (connection.place) this.waiting.release(connection.place);
    connection.place = undefined;
  }

  private awaitTurn(): void {
    if (this.isTurnAhead) return;
    this.isTurnAhead = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isTurnAhead = false;
    if (this.isDestroyed) return;
    const now = this.now();
    for (const connection of this.resting) this.keep(connection);
    this.resting = this.freed;
    this.freed = [];
    this.waiting.prune();
    for (let line = this.waiting.pick(); line; line = this.waiting.pick()) {
      const connection = this.takeIdle(now);
      if (!connection) break;
      const request = this.waiting.take(line);
      connection.place = line;
      connection.usedAt = now;
      if (request) connection.write(request);
    }
    if (this.waiting.isEmpty) return;
    if (this.resting.length > 0) this.awaitTurn();
    this.openMore();
  };

  private keep(connection: HttpConnection): void {
    this.idle.push(connection);
    this.sweeper ??= setInterval(() => this.sweep(), SWEEP_EVERY_MS).unref();
  }

  private takeIdle(now: number): HttpConnection | undefined {
    for (;;) {
      const connection = this.idle.pop();
      if (!connection || connection.isFresh(now)) return connection;
      connection.destroy();
    }
  }

  /** Opens connections for requests that no connection is about to be free for. */
  private openMore(): void {
    const missing = this.waiting.eligible - this.resting.length;
    while (this.opening < missing && this.connections.size < MAX_CONNECTIONS) {
      const connection = new HttpConnection(
        this.url,
        this.connectTimeoutMs,
        this,
        this.tlsSession,
        this.egress,
        this.reading,
      );
      if (this.url.protocol === 'https:') {
        connection.onTlsSession((session) => {
          this.tlsSession = session;
        });
      }
      this.connections.add(connection);
      this.opening += 1;
    }
  }

  private sweep(): void {
    const now = this.now();
    for (const connection of [...this.idle]) if (!connection.isFresh(now)) connection.destroy();
  }
}
