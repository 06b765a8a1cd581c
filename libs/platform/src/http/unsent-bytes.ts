import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Shares } from '../work/shares.js';

export type CutReason = 'connection_bytes' | 'unsent_bytes' | 'write_stalled';

export interface UnsentLimits {
  /** Bytes of all connections together. */
  readonly total: number;
  /** Bytes per connection; a single message or response may be larger. */
  readonly perConnection: number;
  /** How long a connection may accept none of its pending bytes. */
  readonly stallMs: number;
}

export interface Cut {
  readonly reason: CutReason;
  readonly principal: string;
  readonly bytes: number;
  readonly stalledMs: number;
}

/** Response bytes in memory that a client has not read yet; counted once, however many readers hold them. */
export interface Held {
  readonly size: number;
  holders: number;
}

export class SharedBytes implements Held {
  holders = 0;

  constructor(readonly bytes: Buffer) {}

  get size(): number {
    return this.bytes.length;
  }
}

/** A reader with pending bytes on a connection. */
export interface UnsentReader {
  /** Releases everything it holds, because its connection is cut. */
  drop(): void;
}

interface Connection {
  readonly socket: Socket;
  owner: string;
  readonly readers: Set<UnsentReader>;
  bytes: number;
  messages: number;
  movedAt: number;
  taken: number;
  queued: number;
}

/** Overhead per message: its entries in the queues that hold it. */
const ENTRY_BYTES = 200;

/**
 * One budget (backpressure) for all responses and streams that clients have not read, REST and MCP. A connection that
 * exceeds its own share, or accepts nothing for too long, is cut. When the total is exceeded, the principal that holds
 * most loses the connection that has made no progress for longest.
 */
export class UnsentBytes {
  private readonly sockets = new Set<Socket>();
  private readonly connections = new Map<Socket, Connection>();
  private readonly owners = new Shares();
  private readonly sweeping: NodeJS.Timeout;
  private sum = 0;

  constructor(
    private readonly limits: UnsentLimits,
    private readonly onCut: (cut: Cut) => void = () => undefined,
    private readonly now: () => number = () => performance.now(),
  ) {
    const every = Math.max(10, Math.min(5_000, limits.stallMs / 4));
    this.sweeping = setInterval(() => this.sweep(), every).unref();
  }

  /** Bytes held now; bytes shared by several readers count once. */
  get total(): number {
    return this.sum;
  }

  /** Share of the budget for clients that lost their stream. */
  get keepable(): number {
    return Math.min(64 * 1_048_576, this.limits.total / 4);
  }

  close(): void {
    clearInterval(this.sweeping);
  }

  /** Watches every connection of a server for stalled writes, also those of responses that were not registered. */
  adopt(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => {
        this.sockets.delete(socket);
        this.forget(socket);
      });
    });
  }

  /** To be called when a response was written completely: bytes that the connection has not accepted still count. */
  watch(response: ServerResponse, owner: string): void {
    const size = response.writableLength;
    const { socket } = response.req;
    if (size === 0 || response.destroyed || socket.destroyed) return;
    const held: Held = { size, holders: 0 };
    let isHeld = true;
    const reader: UnsentReader = {
      drop: () => {
        isHeld = false;
        this.letGo(held);
      },
    };
    response.once('close', () => {
      if (isHeld) this.release(socket, reader, held);
      isHeld = false;
    });
    this.hold(socket, owner, reader, held);
  }

  /** Counts bytes for this reader until `release` or, when its connection is cut, `letGo`. */
  hold(socket: Socket, owner: string, reader: UnsentReader, held: Held): void {
    const connection = this.connectionOf(socket, owner);
    const size = held.size + ENTRY_BYTES;
    connection.readers.add(reader);
    connection.bytes += size;
    connection.messages += 1;
    this.owners.add(connection.owner, size);
    this.keep(held);
    if (connection.bytes > this.limits.perConnection && connection.messages > 1) {
      this.cut(connection, 'connection_bytes');
    }
    while (this.sum > this.limits.total) {
      const slowest = this.slowest();
      if (!slowest) return;
      this.cut(slowest, 'unsent_bytes');
    }
  }

  release(socket: Socket, reader: UnsentReader, held: Held): void {
    this.letGo(held);
    const connection = this.connections.get(socket);
    if (!connection?.readers.has(reader)) return;
    const size = held.size + ENTRY_BYTES;
    connection.bytes -= size;
    connection.messages -= 1;
    connection.movedAt = this.now();
    this.owners.remove(connection.owner, size);
    if (connection.messages === 0) this.connections.delete(socket);
  }

  /** Counts bytes that are held without a connection, such as a stream that may be resumed. */
  keep(held: Held): void {
    if (held.holders++ === 0) this.sum += held.size + ENTRY_BYTES;
  }

  letGo(held: Held): void {
    if (--held.holders === 0) this.sum -= held.size + ENTRY_BYTES;
  }

  private connectionOf(socket: Socket, owner: string): Connection {
    let connection = this.connections.get(socket);
    if (!connection) {
      connection = {
        socket,
        owner,
        readers: new Set(),
        bytes: 0,
        messages: 0,
        movedAt: this.now(),
        taken: takenBy(socket),
        queued: queuedIn(socket),
      };
      this.connections.set(socket, connection);
    }
    // No bytes are counted for it yet: the sweep found it stalled first.
    if (connection.messages === 0) connection.owner = owner;
    return connection;
  }

  private slowest(): Connection | undefined {
    const owner = this.owners.largest();
    let slowest: Connection | undefined;
    for (const connection of this.connections.values()) {
      if (connection.owner !== owner || connection.messages === 0) continue;
      this.noteProgress(connection);
      if (!slowest || connection.movedAt < slowest.movedAt) slowest = connection;
    }
    return slowest;
  }

  private sweep(): void {
    for (const socket of this.sockets) {
      if (socket.writableLength > 0) this.connectionOf(socket, 'unknown');
    }
    for (const connection of this.connections.values()) {
      const { socket, messages } = connection;
      this.noteProgress(connection);
      if (socket.destroyed || (messages === 0 && socket.writableLength === 0)) {
        this.forget(socket);
      } else if (this.now() - connection.movedAt > this.limits.stallMs) {
        this.cut(connection, 'write_stalled');
      }
    }
  }

  private noteProgress(connection: Connection): void {
    const taken = takenBy(connection.socket);
    const queued = queuedIn(connection.socket);
    if (taken !== connection.taken || queued < connection.queued) connection.movedAt = this.now();
    connection.taken = taken;
    connection.queued = queued;
  }

  /** Releases everything that is pending for the connection. */
  private forget(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (!connection) return;
    this.connections.delete(socket);
    this.owners.remove(connection.owner, connection.bytes);
    for (const reader of connection.readers) reader.drop();
  }

  private cut(connection: Connection, reason: CutReason): void {
    const { socket, owner, bytes } = connection;
    this.forget(socket);
    // A reset also frees the kernel's buffers, and cannot be mistaken for the end of a response.
    socket.resetAndDestroy();
    const stalledMs = Math.round(this.now() - connection.movedAt);
    this.onCut({ reason, principal: owner, bytes, stalledMs });
  }
}

/** Bytes of completed writes. */
function takenBy(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

/** Bytes that libuv has not passed to the kernel: the only count that changes during one large write. */
function queuedIn(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null || !('writeQueueSize' in handle)) return 0;
  return typeof handle.writeQueueSize === 'number' ? handle.writeQueueSize : 0;
}
