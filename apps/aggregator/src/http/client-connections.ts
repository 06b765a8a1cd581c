import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientLimits, Shares } from '@app/platform';

/** Limit on pipelined requests of one connection. Node starts each on arrival, without a limit of its own. */
const MAX_PIPELINED = 64;

interface Connection {
  readonly address: string;
  outstanding: number;
  /** Of these, the ones that an end waits for. */
  awaited: number;
  /** Responses that wait for earlier ones on the same connection. */
  queued?: Set<ServerResponse>;
}

/**
 * All client connections. Above the limit, the address with the most connections loses one, so that one machine cannot
 * lock others out.
 */
export class ClientConnections {
  private readonly connections = new Map<Socket, Connection>();
  private readonly addresses = new Shares();
  private unanswered = 0;
  private isEnding = false;

  constructor(
    private readonly server: Server,
    private readonly max: number,
    private readonly limits: ClientLimits,
    /** Whether the end of the service waits for the response to a request with this URL. */
    private readonly isAwaited: (url: string) => boolean = () => true,
  ) {
    server.on('connection', (socket: Socket) => this.open(socket));
    server.on('request', ({ socket, url = '' }, response) => this.begin(socket, url, response));
  }

  /** Requests without a complete response that an end waits for, streams included. */
  get outstanding(): number {
    return this.unanswered;
  }

  /**
   * Closes every connection as soon as it has no pending response, or at the deadline. Node alone waits for connections
   * without any request, which clients open in advance.
   */
  end(withinMs: number): void {
    this.isEnding = true;
    setTimeout(() => this.server.closeAllConnections(), withinMs).unref();
    this.endIfAnswered();
  }

  private open(socket: Socket): void {
    const address = socket.remoteAddress ?? 'unknown';
    if (this.connections.size >= this.max && !this.makeRoomFor(address)) {
      socket.destroy();
      return;
    }
    this.connections.set(socket, { address, outstanding: 0, awaited: 0 });
    this.addresses.add(address);
    socket.once('close', () => this.forget(socket));
  }

  /** Closes an idle connection, or the oldest of an address above its share; false if there is none. */
  private makeRoomFor(address: string): boolean {
    const gives = this.addresses.whoGivesWay(address);
    let oldest: Socket | undefined;
    let idle: Socket | undefined;
    for (const [socket, connection] of this.connections) {
      if (connection.address !== gives) continue;
      oldest ??= socket;
      if (connection.outstanding > 0) continue;
      idle = socket;
      break;
    }
    this.limits.note('connections', gives ?? address);
    const victim = idle ?? (gives === address ? undefined : oldest);
    if (!victim) return false;
    this.forget(victim);
    victim.destroy();
    return true;
  }

  private forget(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (!connection) return;
    this.connections.delete(socket);
    this.addresses.remove(connection.address);
    this.unanswered -= connection.awaited;
    // Node signals the disconnect only to the response that is being sent.
    for (const response of connection.queued ?? []) response.emit('close');
    this.endIfAnswered();
  }

  private begin(socket: Socket, url: string, response: ServerResponse): void {
    const connection = this.connections.get(socket);
    if (!connection) return;
    const awaited = this.isAwaited(url) ? 1 : 0;
    this.unanswered += awaited;
    connection.awaited += awaited;
    connection.outstanding += 1;
    if (!response.socket) (connection.queued ??= new Set()).add(response);
    response.once('close', () => this.answered(socket, response, awaited));
    if (connection.outstanding <= MAX_PIPELINED || socket.destroyed) return;
    this.limits.note('pipelined_requests', connection.address);
    socket.resetAndDestroy();
  }

  private answered(socket: Socket, response: ServerResponse, awaited: number): void {
    const connection = this.connections.get(socket);
    if (!connection) return;
    this.unanswered -= awaited;
    connection.awaited -= awaited;
    connection.outstanding -= 1;
    connection.queued?.delete(response);
    this.endIfAnswered();
  }

  private endIfAnswered(): void {
    if (this.isEnding && this.unanswered === 0) this.server.closeAllConnections();
  }
}
