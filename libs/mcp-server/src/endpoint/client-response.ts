import {
  messagePieces,
  rpcCode,
  type RpcErrorBody,
  type RpcId,
  type RpcMessage,
  type RpcResponse,
} from '@app/mcp-protocol';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { SseStream, type StreamDependencies } from '../stream/sse-stream.js';

/** The destination of a stream of messages. */
export interface Outlet {
  /** A client is connected to it now. */
  readonly isRead: boolean;
  send(message: RpcMessage): void;
  end(): void;
}

/** One HTTP response: a JSON body, or an SSE stream if a message is sent before the answer. */
export class ClientResponse {
  private stream: SseStream | undefined;
  private outlet: Outlet | undefined;
  private recorder: ((stream: SseStream) => Outlet) | undefined;
  private unsettled = 1;

  constructor(
    private readonly raw: ServerResponse,
    private readonly headers: readonly string[],
    private readonly owner: string,
    private readonly deps: StreamDependencies,
  ) {}

  /** Those of the request. */
  get requestHeaders(): IncomingHttpHeaders {
    return this.raw.req.headers;
  }

  get isOpen(): boolean {
    return !this.raw.writableEnded && !this.raw.destroyed;
  }

  /** Whether the client can get a message now, or never, or later because it is kept until it resumes its stream. */
  get reach(): 'now' | 'later' | 'never' {
    if (!this.outlet) return this.isOpen ? 'now' : 'never';
    return this.outlet.isRead ? 'now' : 'later';
  }

  /** Resolves when the client has read what was sent so far, or has disconnected. */
  caughtUp(): Promise<void> | undefined {
    const { stream } = this;
    return stream?.isBehind ? new Promise((resolve) => stream.onceRead(resolve)) : undefined;
  }

  onClientGone(listener: () => void): void {
    if (this.raw.destroyed) return listener();
    this.raw.once('close', () => {
      if (!this.raw.writableFinished) listener();
    });
  }

  /** Also records messages of a stream, even after the client has disconnected. */
  recordWith(recorder: (stream: SseStream) => Outlet): void {
    this.recorder = recorder;
  }

  /** Sets how many requests the body contained: the last of their answers ends the exchange. */
  expect(requests: number): void {
    this.unsettled = requests;
  }

  send(message: RpcMessage): void {
    if (!this.outlet) {
      if (!this.isOpen) return;
      const stream = this.openStream();
      this.outlet = this.recorder?.(stream) ?? stream;
    }
    this.outlet.send(message);
  }

  /** One request is done; it has no answer when its client cancelled it. */
  settle(answer: RpcResponse | undefined): void {
    this.unsettled -= 1;
    if (this.unsettled > 0) {
      if (answer) this.send(answer);
    } else if (answer) this.finish(answer);
    else this.end();
  }

  finish(answer: RpcResponse, headers: readonly string[] = []): void {
    if (this.outlet) {
      this.outlet.send(answer);
      this.outlet.end();
    } else if (this.isOpen) {
      this.answer(statusOf(answer), answer, headers);
    }
  }

  /** Refuses the HTTP request before or instead of any handling. */
  refuse(
    status: number,
    error: RpcErrorBody,
    id: RpcId | null = null,
    headers: readonly string[] = [],
  ): void {
    if (this.outlet) {
      this.finish({ jsonrpc: '2.0', id, error });
    } else if (this.isOpen) {
      this.answer(status, { jsonrpc: '2.0', id, error }, headers);
    }
  }

  /** Responds 202 to a message that needs no answer. */
  accept(): void {
    if (this.isOpen) this.raw.writeHead(202, [...this.headers]).end();
  }

  /** Ends the response without an answer. */
  end(): void {
    if (this.outlet) this.outlet.end();
    else if (this.isOpen) this.raw.writeHead(200, [...this.headers]).end();
  }

  openStream(): SseStream {
    this.stream ??= new SseStream(this.raw, this.headers, this.owner, this.deps);
    return this.stream;
  }

  private answer(status: number, message: RpcMessage, headers: readonly string[] = []): void {
    const pieces = messagePieces(message);
    const { raw } = this;
    raw.writeHead(status, [
      ...this.headers,
      ...headers,
      'content-type',
      'application/json',
      'content-length',
      String(pieces.reduce((bytes, piece) => bytes + Buffer.byteLength(piece), 0)),
    ]);
    // Node sends what is written in one turn together.
    for (const piece of pieces.slice(0, -1)) raw.write(piece);
    raw.end(pieces.at(-1));
    // Usually the connection takes the whole answer at once.
    if (raw.writableLength > 0) this.deps.unsent.watch(raw, this.owner);
  }
}

/** JSON-RPC errors use HTTP 200, except a missing capability, which the specification maps to 400. */
function statusOf(answer: RpcResponse): number {
  return 'error' in answer && answer.error.code === rpcCode.missingCapability ? 400 : 200;
}
