import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import { EventStream, type StreamEvent } from './event-stream.js';

/** Bodies of refusals are only looked at for a JSON-RPC error. */
const MAX_ERROR_BODY_BYTES = 65_536;
/** How long a message that nobody waits for may keep its connection. */
export const UNAWAITED_MS = 30_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** Empty when the answer was a stream of events. */
  readonly text: string;
  /** `WWW-Authenticate`, with which a refusal says how to get in. */
  readonly challenge: string | undefined;
}

export interface ExchangeHandlers {
  onHead?(status: number, headers: IncomingHttpHeaders): void;
  onEvent(event: StreamEvent): void;
  onOversized(): void;
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
export class HttpExchange {
  readonly done: Promise<HttpAnswer>;
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
    this.done = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    pool.dispatch(
      {
        method: request.method,
        path: request.path,
        headers: request.headers,
        ...(request.body !== undefined && { body: request.body }),
      },
      {
        onRequestStart: (controller) => {
          this.controller = controller;
          if (this.settled) controller.abort(new Error('aborted'));
        },
        onResponseStart: (_controller, status, headers) => this.onHead(status, headers),
        onResponseData: (_controller, chunk) => this.onData(chunk),
        onResponseEnd: () => this.onEnd(),
        onResponseError: (_controller, error) => this.onError(error),
      },
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

  private onHead(status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.challenge = String(headers['www-authenticate'] ?? '') || undefined;
    if (status >= 300) this.maxBodyBytes = Math.min(this.maxBytes, MAX_ERROR_BODY_BYTES);
    else if (/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      this.events = new EventStream(this.maxBytes, {
        onEvent: (event) => {
          this.lastEventId = event.id ?? this.lastEventId;
          this.handlers.onEvent(event);
        },
        onRetry: (ms) => {
          this.retryMs = ms;
        },
        onOversized: () => this.handlers.onOversized(),
      });
    }
    this.handlers.onHead?.(status, headers);
  }

  private onData(chunk: Buffer): void {
    if (this.settled) return;
    if (this.events) return this.events.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.maxBodyBytes) this.parts.push(chunk);
    else if (this.status < 300) this.fail('too-large');
  }

  private onEnd(): void {
    if (this.settled) return;
    this.settled = true;
    this.settle.resolve({
      status: this.status,
      text: this.text(),
      challenge: this.challenge,
    });
  }

  private text(): string {
    const [first] = this.parts;
    const whole = this.parts.length === 1 && first ? first : Buffer.concat(this.parts);
    return whole.toString('utf8');
  }

  private onError(error: Error): void {
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
