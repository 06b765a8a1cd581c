import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import { EventStream, type StreamEvent } from './event-stream.js';
import type { RequestId } from './json-rpc.js';

/** Bodies of refusals are only looked at for a JSON-RPC error. */
const MAX_ERROR_BODY_BYTES = 65_536;
/** How long a message that nobody waits for may keep its connection. */
export const UNAWAITED_MS = 30_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | undefined;
  /** The JSON-RPC request in it, if somebody may give that up. */
  readonly carries?: RequestId | undefined;
  /** Whether it asks for a new session. */
  readonly begins?: boolean | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Empty when the answer was a stream of events. */
  readonly body: Buffer;
  /** `WWW-Authenticate`, with which a refusal says how to get in. */
  readonly challenge: string | undefined;
}

export interface ExchangeHandlers {
  onHead?(status: number, headers: IncomingHttpHeaders, exchange: HttpExchange): void;
  onEvent(event: StreamEvent, exchange: HttpExchange): void;
  onOversized(exchange: HttpExchange): void;
}

/** Why there is no answer, and whether the request had left us by then. */
export class ExchangeFailed extends Error {
  constructor(
    readonly reason: 'unreachable' | 'broken' | 'aborted' | 'too-large',
    readonly sent: boolean,
    cause?: unknown,
  ) {
    super(cause === undefined ? reason : describe(cause), { cause });
  }
}

/** One HTTP request on a pool, its answer read with a limit on its bytes. It has no deadline: its owner aborts it. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<HttpAnswer>;
  readonly carries: RequestId | undefined;
  readonly begins: boolean;
  /** How far a stream of events has come, for asking for the rest of it. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  private settle!: { resolve(answer: HttpAnswer): void; reject(error: ExchangeFailed): void };
  private controller: Dispatcher.DispatchController | undefined;
  private settled = false;
  private status = 0;
  private challenge: string | undefined;
  private parts: Buffer[] = [];
  private size = 0;
  private maxBodyBytes: number;
  private events: EventStream | undefined;

  constructor(
    pool: Pool,
    request: HttpRequest,
    private readonly maxBytes: number,
    private readonly handlers: ExchangeHandlers,
  ) {
    this.maxBodyBytes = maxBytes;
    this.carries = request.carries;
    this.begins = request.begins === true;
    this.done = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    pool.dispatch(
      {
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: request.body ?? null,
      },
      this,
    );
  }

  get isStream(): boolean {
    return this.events !== undefined;
  }

  abort(): void {
    this.fail('aborted');
  }

  /** For what has no caller with a deadline of its own. */
  abortAfter(ms: number): void {
    const timer = setTimeout(() => this.abort(), ms);
    timer.unref();
    const cancel = (): void => clearTimeout(timer);
    this.done.then(cancel, cancel);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.settled) controller.abort(new Error('aborted'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.status = status;
    if (status >= 300) {
      this.challenge = String(headers['www-authenticate'] ?? '') || undefined;
      this.maxBodyBytes = Math.min(this.maxBytes, MAX_ERROR_BODY_BYTES);
    } else if (/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      this.events = new EventStream(this.maxBytes, {
        onEvent: (event) => {
          this.lastEventId = event.id ?? this.lastEventId;
          this.handlers.onEvent(event, this);
        },
        onRetry: (ms) => {
          this.retryMs = ms;
        },
        onOversized: () => this.handlers.onOversized(this),
      });
    }
    this.handlers.onHead?.(status, headers, this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    if (this.events) return this.events.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.maxBodyBytes) this.parts.push(chunk);
    else if (this.status < 300) this.fail('too-large');
  }

  onResponseEnd(): void {
    if (this.settled) return;
    this.settled = true;
    const [first] = this.parts;
    const body = this.parts.length === 1 && first ? first : Buffer.concat(this.parts);
    this.settle.resolve({ status: this.status, body, challenge: this.challenge });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(this.controller ? 'broken' : 'unreachable', error);
  }

  private fail(reason: ExchangeFailed['reason'], cause?: Error): void {
    if (this.settled) return;
    this.settled = true;
    const sent = this.controller !== undefined;
    this.settle.reject(new ExchangeFailed(reason, sent, cause));
    if (reason !== 'unreachable') this.controller?.abort(new Error(reason));
  }
}

/** `ECONNREFUSED` and the like say enough; messages may hold addresses. */
function describe(cause: unknown): string {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code;
  return typeof code === 'string' ? code : 'the connection broke';
}
