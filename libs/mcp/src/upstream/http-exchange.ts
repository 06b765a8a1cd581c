import { EventStream, type StreamEvent } from './event-stream.js';
import type { AnswerHead } from './http1/answer-head.js';
import { ConnectionEnded } from './http1/connection-ended.js';
import type { Exchange } from './http1/http-connection.js';
import type { HttpPool } from './http1/http-pool.js';
import type { RequestId } from './json-rpc.js';

/** Bodies of refusals are only looked at for a JSON-RPC error. */
const MAX_ERROR_BODY_BYTES = 65_536;
/** How long a message that nobody waits for may keep its connection. */
export const UNAWAITED_MS = 30_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Written by `headerLines`. */
  readonly headers: string;
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
  onHead?(head: AnswerHead, exchange: HttpExchange): void;
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
export class HttpExchange implements Exchange {
  readonly done: Promise<HttpAnswer>;
  readonly carries: RequestId | undefined;
  readonly begins: boolean;
  readonly head: string;
  readonly body: string;
  /** How far a stream of events has come, for asking for the rest of it. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** There is an answer, or a reason why there is none. */
  isOver = false;
  private settle!: { resolve(answer: HttpAnswer): void; reject(error: ExchangeFailed): void };
  private connection: { destroy(): void } | undefined;
  private status = 0;
  private challenge: string | undefined;
  /** The body, where its length was told: it arrives in its place. */
  private whole: Buffer | undefined;
  private parts: Buffer[] = [];
  private size = 0;
  private maxBodyBytes: number;
  private events: EventStream | undefined;

  constructor(
    pool: HttpPool,
    { method, path, headers, body, carries, begins }: HttpRequest,
    private readonly maxBytes: number,
    private readonly handlers: ExchangeHandlers,
  ) {
    this.maxBodyBytes = maxBytes;
    this.carries = carries;
    this.begins = begins === true;
    this.body = body ?? '';
    const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
    this.head = `${method} ${path} HTTP/1.1\r\nhost: ${pool.host}\r\n${headers}${length}\r\n`;
    this.done = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    pool.dispatch(this);
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

  onSent(connection: { destroy(): void }): void {
    this.connection = connection;
  }

  onHead(head: AnswerHead): void {
    this.status = head.status;
    if (head.status >= 300) {
      this.challenge = head.get('www-authenticate');
      this.maxBodyBytes = Math.min(this.maxBytes, MAX_ERROR_BODY_BYTES);
    } else if (/^text\/event-stream\b/i.test(head.contentType)) {
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
    } else if (head.contentLength !== undefined && head.contentLength <= this.maxBodyBytes) {
      this.whole = Buffer.allocUnsafe(head.contentLength);
    }
    this.handlers.onHead?.(head, this);
  }

  onData(bytes: Buffer): void {
    if (this.events) return this.events.push(Buffer.from(bytes));
    const at = this.size;
    this.size += bytes.length;
    if (this.whole) bytes.copy(this.whole, at);
    else if (this.size <= this.maxBodyBytes) this.parts.push(Buffer.from(bytes));
    else if (this.status < 300) this.fail('too-large');
  }

  onEnd(): void {
    if (this.isOver) return;
    this.isOver = true;
    const body = this.whole?.subarray(0, this.size) ?? Buffer.concat(this.parts);
    this.settle.resolve({ status: this.status, body, challenge: this.challenge });
  }

  onError(error: Error): void {
    this.fail(this.connection ? 'broken' : 'unreachable', error);
  }

  private fail(reason: ExchangeFailed['reason'], cause?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.settle.reject(new ExchangeFailed(reason, this.connection !== undefined, cause));
    this.connection?.destroy();
  }
}

/** Our own words, or `ECONNREFUSED` and the like, which say enough; messages of others may hold addresses. */
function describe(cause: unknown): string {
  if (cause instanceof ConnectionEnded) return cause.message;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code;
  return typeof code === 'string' ? code : 'the connection broke';
}
