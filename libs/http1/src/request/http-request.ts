import {
  type BothEnds,
  connectionProblem,
  errorCode,
  type Excess,
  HEAVY_BYTES,
  inOwnTurn,
  type MessageLimits,
} from '@app/platform';
import { AnswerBody, type BodyHandlers } from '../answer/answer-body.js';
import type { StreamEvent } from '../answer/event-stream.js';
import type { AnswerHead } from '../answer/answer-head.js';
import { ConnectionEnded } from '../connection/connection-ended.js';
import type { QueuedRequest } from '../connection/http-connection.js';
import type { HttpPool } from '../connection/http-pool.js';
import { redirectionIn } from './redirection.js';

/** Maximum time for which a message without a waiting caller may occupy its connection. */
export const UNAWAITED_MS = 30_000;
const MAX_REDIRECTS = 3;

export interface HttpRequestOptions {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Header lines written by `headerLines`. */
  readonly headers: string;
  readonly body?: string | undefined;
  /** The principal whose share of the connections it uses; requests of the service have none. */
  readonly principal?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Empty when the answer was an event stream. */
  readonly body: Buffer;
  /** `WWW-Authenticate` of a refusal: how to authenticate. */
  readonly challenge: string | undefined;
  /** Why a redirect was not followed, and the next step. */
  readonly advice: string | undefined;
}

export interface RequestHandlers<R extends HttpRequestOptions = HttpRequestOptions> {
  onHead?(head: AnswerHead, request: HttpRequest<R>): void;
  onEvent(event: StreamEvent, request: HttpRequest<R>): void;
  onOversized(ends: BothEnds, request: HttpRequest<R>): void;
}

/** Why there is no answer, and whether the request had been sent. */
export class RequestFailed extends Error {
  constructor(
    readonly reason: 'unreachable' | 'broken' | 'aborted' | 'too-large',
    readonly sent: boolean,
    cause?: unknown,
    /** Which limit was exceeded. */
    readonly excess?: Excess,
  ) {
    super(cause === undefined ? reason : describe(cause), { cause });
  }
}

/** One HTTP request on a pool, with a limit on the bytes of its answer. It has no deadline: its owner aborts it. */
export class HttpRequest<R extends HttpRequestOptions = HttpRequestOptions>
  implements QueuedRequest, BodyHandlers
{
  readonly done: Promise<HttpAnswer>;
  readonly principal: string | undefined;
  head: string;
  readonly body: string;
  /** The id of the last event, for resuming the stream. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  /** Settled: answered or failed. */
  isOver = false;
  private settle!: { resolve(answer: HttpAnswer): void; reject(error: RequestFailed): void };
  /** The connection while this request uses it: from sending to the end of the answer. */
  private connection: { destroy(): void } | undefined;
  private wasSent = false;
  private status = 0;
  private challenge: string | undefined;
  private advice: string | undefined;
  private answer: AnswerBody | undefined;
  private path: string;
  private redirects = 0;
  /** Target of a redirect, followed when the current answer is complete. */
  private nextPath: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: HttpPool,
    readonly options: R,
    private readonly limits: MessageLimits,
    private readonly handlers: RequestHandlers<R>,
  ) {
    this.principal = options.principal;
    this.body = options.body ?? '';
    this.path = options.path;
    this.head = this.headFor();
    this.done = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    pool.send(this);
  }

  /** Bytes of it may have reached the server. */
  get isSent(): boolean {
    return this.wasSent;
  }

  get isStream(): boolean {
    return this.answer?.isStream === true;
  }

  abort(): void {
    this.fail('aborted');
  }

  /** Sets a timeout for requests whose caller has no deadline; only the first call counts. */
  abortAfter(ms: number): void {
    if (this.isOver || this.timer) return;
    this.timer = setTimeout(() => this.abort(), ms);
    this.timer.unref();
  }

  onSent(connection: { destroy(): void }): void {
    this.connection = connection;
    this.wasSent = true;
  }

  onHead(head: AnswerHead): void {
    this.status = head.status;
    this.nextPath = undefined;
    if (head.status >= 300) {
      this.challenge = head.get('www-authenticate');
      this.noteRedirect(head);
    }
    this.answer = new AnswerBody(head, this.limits, this, this.pool.reading);
    if (this.nextPath === undefined) this.handlers.onHead?.(head, this);
    if (this.answer.isTooLong) this.onExcess('message');
  }

  onData(bytes: Buffer): void {
    if (!this.isOver) this.answer?.push(bytes);
  }

  onEnd(): void {
    // From here on the connection may belong to another request.
    this.connection = undefined;
    if (!this.isOver) this.answer?.end();
  }

  onError(error: Error): void {
    this.fail(this.wasSent ? 'broken' : 'unreachable', error);
  }

  onEvent(event: StreamEvent): void {
    this.lastEventId = event.id ?? this.lastEventId;
    this.handlers.onEvent(event, this);
  }

  onRetry(ms: number): void {
    this.retryMs = ms;
  }

  onOversized(ends: BothEnds): void {
    this.handlers.onOversized(ends, this);
  }

  onExcess(excess: Excess): void {
    this.fail('too-large', undefined, excess);
  }

  onWhole(body: Buffer): void {
    if (this.isOver) return;
    if (this.nextPath !== undefined && !this.connection) return this.follow(this.nextPath);
    this.finish();
    const { status, challenge, advice } = this;
    const settle = (): void => this.settle.resolve({ status, body, challenge, advice });
    if (body.length < HEAVY_BYTES) settle();
    else inOwnTurn(settle);
    // Closes the connection of a refusal that is longer than the part of it we read.
    this.connection?.destroy();
  }

  private noteRedirect(head: AnswerHead): void {
    const redirection = redirectionIn(head, this.options.method, new URL(this.path, this.pool.url));
    if (!redirection) return;
    if ('refusal' in redirection) this.advice = redirection.refusal;
    else if (this.redirects === MAX_REDIRECTS) this.advice = 'it redirects again and again';
    else this.nextPath = redirection.path;
  }

  private headFor(): string {
    const { method, headers, body } = this.options;
    const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
    return `${method} ${this.path} HTTP/1.1\r\nhost: ${this.pool.host}\r\n${headers}${length}\r\n`;
  }

  private follow(path: string): void {
    this.redirects++;
    this.path = path;
    this.head = this.headFor();
    this.wasSent = false;
    this.pool.send(this);
  }

  private fail(reason: RequestFailed['reason'], cause?: Error, excess?: Excess): void {
    if (this.isOver) return;
    this.finish();
    this.settle.reject(new RequestFailed(reason, this.wasSent, cause, excess));
    this.connection?.destroy();
  }

  private finish(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.answer?.close();
  }
}

/** Our own words, or the meaning of a Node error code: messages of other libraries may contain addresses. */
function describe(cause: unknown): string {
  if (cause instanceof ConnectionEnded) return cause.message;
  return connectionProblem(cause) ?? errorCode(cause) ?? 'the connection broke';
}
