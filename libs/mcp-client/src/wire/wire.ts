import type { AppError, ReadingShare } from '@app/platform';
import type { RpcMessage, RpcId } from '@app/mcp-protocol';
import type { CloseOptions } from '../upstream.js';

/** Receives the messages and events of a wire. */
export interface WireListener {
  /**
   * A message as it came; `during` is the request in whose answer stream it came, undefined on a shared stream.
   * Returns false when it was no message.
   */
  onFrame(bytes: Buffer, during?: RpcId): boolean;
  /** An oversized answer was discarded; `id` is its request, if known. */
  onOversized(id: RpcId | undefined, error: AppError): void;
  /** The server lost the session of that epoch. */
  onExpired(epoch: number): void;
  /** The wire is dead; called once. */
  onEnd(error: AppError): void;
  awaits(id: RpcId): boolean;
}

/** The bytes to and from one server. Limits what it reads and always reports its end. */
export interface Wire {
  readonly kind: 'stdio' | 'sse' | 'http';
  /** Of the server; undefined for a process. */
  readonly address?: URL;
  /** Counts the sessions of the server on this wire: only Streamable HTTP can have more than one. */
  readonly epoch: number;
  readonly reading: ReadingShare;
  open(listener: WireListener): Promise<void>;
  /**
   * Rejects when this message can no longer get an answer. Resolves when it is written or, where every request
   * has its own exchange, when the exchange ends.
   */
  send(
    message: RpcMessage,
    extraHeaders?: Readonly<Record<string, string>>,
    principal?: string,
  ): Promise<void>;
  /** Whether bytes of a request without an answer may have reached the server. */
  mayHaveSent(id: RpcId): boolean;
  /** The answer to this request is no longer needed. */
  abandon(id: RpcId): void;
  setProtocolVersion(version: string): void;
  /** Forgets the session of the server, before a new one is negotiated. */
  forget(): void;
  /** Opens the stream for messages outside of requests (legacy Streamable HTTP); a no-op for other wires. */
  listen(): void;
  stopListening(): void;
  logs(): readonly string[];
  close(options: CloseOptions): Promise<void>;
}

/** The server lost our session, so it cannot have executed the request. */
export class SessionExpired extends Error {}
