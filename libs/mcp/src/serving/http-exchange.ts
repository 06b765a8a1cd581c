import type { ServerResponse } from 'node:http';
import {
  bytesOf,
  rpcCode,
  type RpcErrorBody,
  type RpcId,
  type RpcMessage,
  type RpcResponse,
} from './rpc.js';
import { SseStream } from './sse-stream.js';

/** Where a stream of messages goes. */
export interface Outlet {
  send(message: RpcMessage): void;
  end(): void;
}

/** One HTTP answer: a JSON body, or a stream from the moment something goes out before the answer. */
export class HttpExchange {
  private stream: SseStream | undefined;
  private outlet: Outlet | undefined;
  private recorder: ((stream: SseStream) => Outlet) | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly headers: readonly string[],
  ) {}

  get isOpen(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  onClientGone(listener: () => void): void {
    this.response.once('close', () => {
      if (!this.response.writableFinished) listener();
    });
  }

  /** What goes out as a stream goes there too, also when the client is gone by then. */
  recordWith(recorder: (stream: SseStream) => Outlet): void {
    this.recorder = recorder;
  }

  send(message: RpcMessage): void {
    if (!this.outlet) {
      if (!this.isOpen) return;
      const stream = this.openStream();
      this.outlet = this.recorder?.(stream) ?? stream;
    }
    this.outlet.send(message);
  }

  finish(answer: RpcResponse, headers: readonly string[] = []): void {
    if (this.outlet) {
      this.outlet.send(answer);
      this.outlet.end();
    } else if (this.isOpen) {
      this.answer(statusOf(answer), answer, headers);
    }
  }

  /** A refusal of the wire, before or instead of any handling. */
  refuse(status: number, error: RpcErrorBody, id: RpcId | null = null): void {
    if (this.outlet) {
      this.finish({ jsonrpc: '2.0', id, error });
    } else if (this.isOpen) {
      this.answer(status, { jsonrpc: '2.0', id, error });
    }
  }

  /** For what needs no answer. */
  accept(): void {
    if (this.isOpen) this.response.writeHead(202, [...this.headers]).end();
  }

  /** Ends without an answer. */
  end(): void {
    if (this.outlet) this.outlet.end();
    else if (this.isOpen) this.response.writeHead(200, [...this.headers]).end();
  }

  openStream(): SseStream {
    this.stream ??= new SseStream(this.response, this.headers);
    return this.stream;
  }

  private answer(status: number, message: RpcMessage, headers: readonly string[] = []): void {
    const body = bytesOf(message);
    const { response } = this;
    response.writeHead(status, [
      ...this.headers,
      ...headers,
      'content-type',
      'application/json',
      'content-length',
      String(Buffer.byteLength(body)),
    ]);
    response.end(body);
  }
}

/** An error of whoever serves the request stands in the body; one of them belongs in the status too. */
function statusOf(answer: RpcResponse): number {
  return 'error' in answer && answer.error.code === rpcCode.missingCapability ? 400 : 200;
}
