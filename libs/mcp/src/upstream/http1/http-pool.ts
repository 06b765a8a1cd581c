import { ConnectionEnded } from './connection-ended.js';
import { type Exchange, HttpConnection } from './http-connection.js';

/** Calls to one server at the same time; more wait for a free connection. */
const MAX_CONNECTIONS = 256;
const SWEEP_EVERY_MS = 1_000;

/**
 * Keep-alive connections to one origin, for requests that are sent once and never repeated: deadlines and
 * second attempts are for those who know what a request does (docs/decisions/0701).
 *
 * What is asked within one turn of the loop goes out together at its end: a server that sleeps is woken once
 * by all of it, and not by every request.
 */
export class HttpPool {
  readonly host: string;
  private readonly connections = new Set<HttpConnection>();
  /** The one that was used last is used next, so that those too many grow old. */
  private readonly idle: HttpConnection[] = [];
  /** Their last answers came in this turn of the loop, or in the one before: a server that closes is heard after that. */
  private freed: HttpConnection[] = [];
  private resting: HttpConnection[] = [];
  /** For the end of the turn, or for a connection. */
  private waiting: Exchange[] = [];
  private opening = 0;
  private isTurnAhead = false;
  private isDestroyed = false;
  private tlsSession: Buffer | undefined;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly url: URL,
    private readonly connectTimeoutMs: number,
  ) {
    this.host = url.host;
  }

  dispatch(exchange: Exchange): void {
    if (this.isDestroyed) return exchange.onError(new ConnectionEnded('the connection was closed'));
    this.waiting.push(exchange);
    this.awaitTurn();
  }

  destroy(): void {
    this.isDestroyed = true;
    clearInterval(this.sweeper);
    for (const connection of this.connections) connection.destroy();
    for (const exchange of this.waiting.splice(0)) {
      exchange.onError(new ConnectionEnded('the connection was closed'));
    }
  }

  onOpen(connection: HttpConnection): void {
    this.opening -= 1;
    this.keep(connection, performance.now());
    this.awaitTurn();
  }

  onFree(connection: HttpConnection): void {
    this.freed.push(connection);
    this.awaitTurn();
  }

  /** Whatever was on it knows. One that never opened fails the request that has waited longest. */
  onClose(connection: HttpConnection, error: Error): void {
    this.connections.delete(connection);
    const place = this.idle.indexOf(connection);
    if (place >= 0) this.idle.splice(place, 1);
    if (!connection.isOpen) {
      this.opening -= 1;
      this.waiting.shift()?.onError(error);
    }
    if (this.waiting.length > 0) this.awaitTurn();
  }

  private awaitTurn(): void {
    if (this.isTurnAhead) return;
    this.isTurnAhead = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isTurnAhead = false;
    if (this.isDestroyed) return;
    const now = performance.now();
    for (const connection of this.resting) this.keep(connection, now);
    this.resting = this.freed;
    this.freed = [];
    const { waiting } = this;
    this.waiting = [];
    for (const exchange of waiting) {
      if (exchange.isOver) continue;
      const connection = this.takeIdle(now);
      if (connection) connection.send(exchange);
      else this.waiting.push(exchange);
    }
    if (this.waiting.length === 0) return;
    if (this.resting.length > 0) this.awaitTurn();
    this.openMore();
  };

  private keep(connection: HttpConnection, now: number): void {
    connection.idleSince = now;
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

  /** For those that no connection is about to be free for. */
  private openMore(): void {
    const coming = (): number => this.opening + this.resting.length;
    while (coming() < this.waiting.length && this.connections.size < MAX_CONNECTIONS) {
      const connection = new HttpConnection(this.url, this.connectTimeoutMs, this, this.tlsSession);
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
    const now = performance.now();
    for (const connection of [...this.idle]) if (!connection.isFresh(now)) connection.destroy();
  }
}
