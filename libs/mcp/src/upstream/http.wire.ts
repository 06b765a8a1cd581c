import { PROTOCOL_VERSION_META_KEY } from '../protocol.js';
import { Crowd, isJsonObject, type JsonObject } from '@app/platform';
import type { StreamEvent } from './event-stream.js';
import {
  ExchangeFailed,
  type ExchangeHandlers,
  type HttpAnswer,
  HttpExchange,
  type HttpRequest,
  UNAWAITED_MS,
} from './http-exchange.js';
import type { AnswerHead } from './http1/answer-head.js';
import { HttpPool } from './http1/http-pool.js';
import { headerLines, ownHeaders } from './http-headers.js';
import { type OutgoingMessage, type RequestId } from './json-rpc.js';
import type { Authorizer } from './oauth/authorizer.js';
import { headerText } from './param-headers.js';
import type { HttpTarget } from './sse.wire.js';
import {
  AnswerTooLarge,
  ConnectionLost,
  CredentialsRefused,
  UpstreamHttpError,
} from './upstream.errors.js';
import { SessionExpired, type Wire, type WireListener } from './wire.js';

/** After its answer an exchange has nothing more to say; a server that keeps the stream open is helped to end it. */
const LINGER_MS = 1_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
const FAREWELL_MS = 1_000;
const MAX_RESUMES = 5;

const post = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const listening = { accept: 'text/event-stream' };

type RequestOnWire = Omit<HttpRequest, 'path'>;

/** Streamable HTTP of either era: every request is a POST whose answer is JSON or a stream of events. */
export class HttpWire implements Wire, ExchangeHandlers {
  readonly kind = 'http';
  epoch = 0;
  private readonly path: string;
  private readonly ownHeaders: Readonly<Record<string, string>>;
  private readonly pool: HttpPool;
  private readonly running = new Crowd<HttpExchange>();
  private readonly closing = new AbortController();
  private listener: WireListener | undefined;
  private sessionId: string | undefined;
  private protocolVersion: string | undefined;
  private usualHeaders: string | undefined;
  private usualCredentials: string | undefined;

  constructor(
    target: HttpTarget,
    private readonly maxAnswerBytes: number,
    connectTimeoutMs: number,
    private readonly authorizer?: Authorizer,
  ) {
    const url = new URL(target.url);
    this.path = url.pathname + url.search;
    this.ownHeaders = ownHeaders(target.headers);
    this.pool = new HttpPool(url, connectTimeoutMs);
  }

  open(listener: WireListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  send(message: OutgoingMessage, extra?: Readonly<Record<string, string>>): Promise<void> {
    const waiting = this.authorizer?.ready();
    return waiting ? waiting.then(() => this.post(message, extra)) : this.post(message, extra);
  }

  abandon(id: RequestId): void {
    for (const exchange of this.running) if (exchange.carries === id) exchange.abort();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
    this.usualHeaders = undefined;
  }

  listen(): void {
    void this.keepListening();
  }

  logs(): readonly string[] {
    return [];
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    for (const exchange of this.running) exchange.abort();
    if (this.sessionId !== undefined) {
      const farewell = this.exchange({ method: 'DELETE', headers: this.headersFor(true) });
      farewell.abortAfter(FAREWELL_MS);
      await farewell.done.catch(() => undefined);
    }
    this.pool.destroy();
  }

  onHead(head: AnswerHead, exchange: HttpExchange): void {
    if (!exchange.begins || head.status >= 300) return;
    this.sessionId = head.get('mcp-session-id');
    this.usualHeaders = undefined;
    this.epoch++;
  }

  onEvent({ type, data }: StreamEvent, exchange: HttpExchange): void {
    if (type !== 'message' || data.length === 0) return;
    const { carries } = exchange;
    this.listener?.onFrame(data, carries);
    if (carries !== undefined && !this.listener?.awaits(carries)) exchange.abortAfter(LINGER_MS);
  }

  onOversized({ carries }: HttpExchange): void {
    this.listener?.onOversized(carries);
  }

  /** Once more when there are other credentials than those that were refused. */
  private async post(
    message: OutgoingMessage,
    extra?: Readonly<Record<string, string>>,
    isRepeated = false,
  ): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (!this.isAwaited(id)) return;
    const begins = 'method' in message && message.method === 'initialize';
    const hadSession = this.sessionId !== undefined && !begins;
    const sent = this.authorizer?.header;
    const exchange = this.exchange({
      method: 'POST',
      headers: begins ? this.headersFor(false, post) : this.postHeaders(message, extra),
      body: JSON.stringify(message),
      carries: id,
      begins,
    });
    if (id === undefined) exchange.abortAfter(UNAWAITED_MS);
    let answer: HttpAnswer | undefined;
    try {
      answer = await exchange.done;
      if (exchange.isStream) answer = undefined;
    } catch (error) {
      this.refuseUnlessResumable(error, exchange);
    } finally {
      if (id !== undefined) this.running.remove(exchange);
    }
    if (!answer) return id === undefined ? undefined : this.resume(id, exchange);
    if (answer.status >= 400 && !isRepeated && (await this.isRenewed(answer, sent))) {
      return this.post(message, extra, true);
    }
    this.accept(answer, hadSession, id);
  }

  /** Whether there are other credentials now than those that were refused. */
  private async isRenewed(
    { status, challenge }: HttpAnswer,
    sent: string | undefined,
  ): Promise<boolean> {
    return (await this.authorizer?.renew({ status, challenge, sent })) === true;
  }

  private isAwaited(id: RequestId | undefined): boolean {
    return id === undefined || this.listener?.awaits(id) === true;
  }

  private exchange({ method, headers, body, carries, begins }: RequestOnWire): HttpExchange {
    const request = { method, path: this.path, headers, body, carries, begins };
    const exchange = new HttpExchange(this.pool, request, this.maxAnswerBytes, this);
    if (exchange.carries !== undefined) this.running.add(exchange);
    return exchange;
  }

  /** Returns only when the rest of a stream of events that broke can be asked for. */
  private refuseUnlessResumable(error: unknown, exchange: HttpExchange): void {
    if (!(error instanceof ExchangeFailed)) throw error;
    if (error.reason === 'too-large') throw new AnswerTooLarge(this.maxAnswerBytes);
    if (error.reason === 'broken' && exchange.lastEventId !== undefined) return;
    if (error.reason === 'unreachable') this.end(`unreachable (${error.message})`);
    throw new ConnectionLost(error.message, error.sent ? 'unknown' : 'no', error);
  }

  private accept(answer: HttpAnswer, hadSession: boolean, id: RequestId | undefined): void {
    const { status, body } = answer;
    if (status === 401 || status === 403) throw new CredentialsRefused(status);
    if (hadSession && saysSessionUnknown(status, body)) throw new SessionExpired();
    if (status >= 300) throw new UpstreamHttpError(status, body.toString('utf8'));
    if (id === undefined || !this.listener) return;
    if (body.length > 0) this.listener.onFrame(body, id);
    if (this.listener.awaits(id)) {
      throw new ConnectionLost('its HTTP answer does not hold the answer', 'unknown');
    }
  }

  /** A server may let go of the stream of a long call and be asked for the rest of it (2025-11-25, "Resumability"). */
  private async resume(id: RequestId, first: HttpExchange): Promise<void> {
    let { lastEventId, retryMs } = first;
    for (let turn = 0; turn < MAX_RESUMES && this.listener?.awaits(id); turn++) {
      if (lastEventId === undefined) break;
      await this.pause(retryMs ?? FIRST_WAIT_MS);
      if (!this.listener.awaits(id)) return;
      const again = this.exchange({
        method: 'GET',
        headers: this.headersFor(true, { ...listening, 'last-event-id': lastEventId }),
        carries: id,
      });
      try {
        await again.done;
        if (!again.isStream) break;
      } catch (error) {
        this.refuseUnlessResumable(error, again);
      } finally {
        this.running.remove(again);
      }
      lastEventId = again.lastEventId ?? lastEventId;
      retryMs = again.retryMs ?? retryMs;
    }
    if (this.listener?.awaits(id)) {
      throw new ConnectionLost('the stream ended before the answer', 'unknown');
    }
  }

  /** The stream for what the server says unasked. Its loss is no loss of the session. */
  private async keepListening(): Promise<void> {
    let wait = FIRST_WAIT_MS;
    let lastEventId: string | undefined;
    while (!this.closing.signal.aborted) {
      const { epoch } = this;
      const sent = this.authorizer?.header;
      const stream = this.exchange({
        method: 'GET',
        headers: this.headersFor(true, {
          ...listening,
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        }),
      });
      const abort = (): void => stream.abort();
      this.closing.signal.addEventListener('abort', abort, { once: true });
      const answer = await stream.done.catch(() => undefined);
      this.closing.signal.removeEventListener('abort', abort);
      if (this.closing.signal.aborted) return;
      const status = answer?.status ?? 0;
      if (this.sessionId !== undefined && saysSessionUnknown(status, answer?.body)) {
        this.listener?.onExpired(epoch);
      } else if (status >= 400 && status < 500) {
        if (!answer || !(await this.isRenewed(answer, sent).catch(() => false))) return;
      }
      if (stream.isStream) wait = stream.retryMs ?? FIRST_WAIT_MS;
      lastEventId = this.epoch === epoch ? (stream.lastEventId ?? lastEventId) : undefined;
      await this.pause(wait);
      wait = Math.min(wait * 2, MAX_WAIT_MS);
    }
  }

  /** Those of nearly every request are the same, and made once a session. */
  private postHeaders(
    message: OutgoingMessage,
    extra: Readonly<Record<string, string>> | undefined,
  ): string {
    const modern = modernHeaders(message);
    if (modern || extra) return this.headersFor(true, { ...post, ...modern, ...extra });
    const credentials = this.authorizer?.header;
    if (this.usualHeaders === undefined || this.usualCredentials !== credentials) {
      this.usualHeaders = this.headersFor(true, post);
      this.usualCredentials = credentials;
    }
    return this.usualHeaders;
  }

  private headersFor(inSession: boolean, more?: Record<string, string>): string {
    const { sessionId, protocolVersion } = this;
    const authorization = this.authorizer?.header;
    return headerLines({
      ...this.ownHeaders,
      ...(authorization !== undefined && { authorization }),
      ...(inSession && sessionId !== undefined && { 'mcp-session-id': sessionId }),
      ...(inSession &&
        protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
      ...more,
    });
  }

  private end(reason: string): void {
    this.listener?.onEnd(new ConnectionLost(reason, 'no'));
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.closing;
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, ms);
      timer.unref();
      signal.addEventListener('abort', finish, { once: true });
      if (signal.aborted) finish();
    });
  }
}

/** 404 says so by the specification; servers built after the SDK's example say 400 with a message about sessions. */
function saysSessionUnknown(status: number, body: Buffer | undefined): boolean {
  if (status === 404) return true;
  return status === 400 && /session|not initialized/i.test(body?.toString('utf8') ?? '');
}

/** What the 2026-07-28 wire repeats of the body, so that proxies can route without reading it. */
function modernHeaders(message: OutgoingMessage): Record<string, string> | undefined {
  if (!('method' in message)) return undefined;
  const { method, params = {} } = message;
  const version = isJsonObject(params['_meta'])
    ? params['_meta'][PROTOCOL_VERSION_META_KEY]
    : undefined;
  if (typeof version !== 'string') return undefined;
  const name = subjectOf(method, params);
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': headerText(name) }),
  };
}

function subjectOf(method: string, params: JsonObject): string | undefined {
  const subject = method === 'resources/read' ? params['uri'] : params['name'];
  return typeof subject === 'string' ? subject : undefined;
}
