import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '@app/platform';
import type { Pool } from 'undici';
import { ExchangeFailed, type HttpAnswer, HttpExchange, UNAWAITED_MS } from './http-exchange.js';
import { httpPool, ownHeaders } from './http-pool.js';
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

/** Streamable HTTP of either era: every request is a POST whose answer is JSON or a stream of events. */
export class HttpWire implements Wire {
  readonly kind = 'http';
  epoch = 0;
  private readonly url: URL;
  private readonly ownHeaders: Readonly<Record<string, string>>;
  private readonly pool: Pool;
  private readonly running = new Map<RequestId, HttpExchange>();
  private readonly closing = new AbortController();
  private listener: WireListener | undefined;
  private sessionId: string | undefined;
  private protocolVersion: string | undefined;

  constructor(
    target: HttpTarget,
    private readonly maxAnswerBytes: number,
    connectTimeoutMs: number,
    private readonly authorizer?: Authorizer,
  ) {
    this.url = new URL(target.url);
    this.ownHeaders = ownHeaders(target.headers);
    this.pool = httpPool(this.url, connectTimeoutMs);
  }

  open(listener: WireListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  async send(
    message: OutgoingMessage,
    extra: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const begins = 'method' in message && message.method === 'initialize';
    const hadSession = this.sessionId !== undefined && !begins;
    const post = (): HttpExchange => {
      const exchange = this.exchange(
        'POST',
        {
          ...this.sessionHeaders(begins),
          ...modernHeaders(message),
          ...extra,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        id,
        JSON.stringify(message),
        begins,
      );
      if (id === undefined) exchange.abortAfter(UNAWAITED_MS);
      return exchange;
    };
    if (this.authorizer) {
      await this.authorizer.ready();
      if (!this.isAwaited(id)) return;
    }
    const sent = this.authorizer?.header;
    let exchange = post();
    let answer = await this.outcome(exchange, id);
    if (
      answer &&
      answer.status >= 400 &&
      (await this.isRenewed(answer, sent)) &&
      this.isAwaited(id)
    ) {
      exchange = post();
      answer = await this.outcome(exchange, id);
    }
    if (answer) this.accept(answer, hadSession, id);
    else if (id !== undefined) await this.resume(id, exchange);
  }

  abandon(id: RequestId): void {
    this.running.get(id)?.abort();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
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
    for (const exchange of this.running.values()) exchange.abort();
    if (this.sessionId !== undefined) {
      const farewell = this.exchange('DELETE', this.sessionHeaders(false));
      farewell.abortAfter(FAREWELL_MS);
      await farewell.done.catch(() => undefined);
    }
    await this.pool.destroy();
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

  private exchange(
    method: 'GET' | 'POST' | 'DELETE',
    headers: Record<string, string>,
    id?: RequestId,
    body?: string,
    begins = false,
  ): HttpExchange {
    const authorization = this.authorizer?.header;
    const exchange: HttpExchange = new HttpExchange(
      this.pool,
      {
        method,
        path: this.url.pathname + this.url.search,
        headers: {
          ...this.ownHeaders,
          ...(authorization !== undefined && { authorization }),
          ...headers,
        },
        ...(body !== undefined && { body }),
      },
      this.maxAnswerBytes,
      {
        onHead: (status, answered) => {
          if (!begins || status >= 300) return;
          const given = answered['mcp-session-id'];
          this.sessionId = typeof given === 'string' ? given : undefined;
          this.epoch++;
        },
        onEvent: ({ type, data }) => {
          if (type !== 'message' || data === '') return;
          this.listener?.onFrame(data, id);
          if (id !== undefined && !this.listener?.awaits(id)) exchange.abortAfter(LINGER_MS);
        },
        onOversized: () => this.listener?.onOversized(id),
      },
    );
    if (id !== undefined) this.running.set(id, exchange);
    return exchange;
  }

  /** The answer, or undefined when a stream of events ended before it came. */
  private async outcome(
    exchange: HttpExchange,
    id: RequestId | undefined,
  ): Promise<HttpAnswer | undefined> {
    try {
      const answer = await exchange.done;
      return exchange.isStream ? undefined : answer;
    } catch (error) {
      if (!(error instanceof ExchangeFailed)) throw error;
      if (error.reason === 'too-large') throw new AnswerTooLarge(this.maxAnswerBytes);
      if (error.reason === 'broken' && exchange.lastEventId !== undefined) return undefined;
      if (error.reason === 'unreachable') this.end(`unreachable (${error.message})`);
      throw new ConnectionLost(error.message, error.sent ? 'unknown' : 'no', error);
    } finally {
      if (id !== undefined && this.running.get(id) === exchange) this.running.delete(id);
    }
  }

  private accept(answer: HttpAnswer, hadSession: boolean, id: RequestId | undefined): void {
    const { status, text } = answer;
    if (status === 401 || status === 403) throw new CredentialsRefused(status);
    if (hadSession && saysSessionUnknown(status, text)) throw new SessionExpired();
    if (status >= 300) throw new UpstreamHttpError(status, text);
    if (id === undefined || !this.listener) return;
    if (text !== '') this.listener.onFrame(text, id);
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
      const again = this.exchange(
        'GET',
        {
          ...this.sessionHeaders(false),
          accept: 'text/event-stream',
          'last-event-id': lastEventId,
        },
        id,
      );
      if (await this.outcome(again, id)) break;
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
      const stream = this.exchange('GET', {
        ...this.sessionHeaders(false),
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      });
      const abort = (): void => stream.abort();
      this.closing.signal.addEventListener('abort', abort, { once: true });
      const answer = await stream.done.catch(() => undefined);
      this.closing.signal.removeEventListener('abort', abort);
      if (this.closing.signal.aborted) return;
      const status = answer?.status ?? 0;
      if (this.sessionId !== undefined && saysSessionUnknown(status, answer?.text ?? '')) {
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

  private sessionHeaders(begins: boolean): Record<string, string> {
    return {
      ...(this.sessionId !== undefined && !begins && { 'mcp-session-id': this.sessionId }),
      ...(this.protocolVersion !== undefined &&
        !begins && { 'mcp-protocol-version': this.protocolVersion }),
    };
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
function saysSessionUnknown(status: number, text: string): boolean {
  return status === 404 || (status === 400 && /session|not initialized/i.test(text));
}

/** What the 2026-07-28 wire repeats of the body, so that proxies can route without reading it. */
function modernHeaders(message: OutgoingMessage): Record<string, string> {
  if (!('method' in message)) return {};
  const { method, params = {} } = message;
  const version = isJsonObject(params['_meta'])
    ? params['_meta'][PROTOCOL_VERSION_META_KEY]
    : undefined;
  if (typeof version !== 'string') return {};
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
