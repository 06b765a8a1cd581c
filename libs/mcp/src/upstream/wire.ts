import type { AppError } from '@app/platform';
import type { OutgoingMessage, RequestId } from './json-rpc.js';
import type { CloseOptions } from './upstream.js';

/** What a wire tells its session, and asks of it. */
export interface WireListener {
  /**
   * A message as it came; `during` is the request in whose own answer stream it came, where there is
   * such a thing. False when it was no message at all.
   */
  onFrame(bytes: Buffer, during?: RequestId): boolean;
  /** A message larger than allowed was thrown away; `id` is its request, if that could be told. */
  onOversized(id: RequestId | undefined): void;
  /** The server no longer knows the session of that epoch. */
  onExpired(epoch: number): void;
  /** The wire is dead; said once. */
  onEnd(error: AppError): void;
  awaits(id: RequestId): boolean;
}

/** The bytes to and from one server. Caps what it reads and never stays silent about an end. */
export interface Wire {
  readonly kind: 'stdio' | 'sse' | 'http';
  /** Counts the sessions the server gave us on this wire: only Streamable HTTP can have more than one. */
  readonly epoch: number;
  open(listener: WireListener): Promise<void>;
  /**
   * Rejects when this message certainly gets no answer any more. Resolves when written or, where every
   * request has an exchange of its own, when that is over.
   */
  send(message: OutgoingMessage, extraHeaders?: Readonly<Record<string, string>>): Promise<void>;
  /** Nobody waits for this answer any more. */
  abandon(id: RequestId): void;
  setProtocolVersion(version: string): void;
  /** Wait for messages that belong to no request of ours (legacy Streamable HTTP); elsewhere nothing to do. */
  listen(): void;
  logs(): readonly string[];
  close(options: CloseOptions): Promise<void>;
}

/** The server forgot our session, so it cannot have executed what we sent in it. */
export class SessionExpired extends Error {}
