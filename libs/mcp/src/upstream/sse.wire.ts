import { HttpPool } from './http1/http-pool.js';
import { headerLines, ownHeaders } from './http-headers.js';
import { ExchangeFailed, type HttpAnswer, HttpExchange, UNAWAITED_MS } from './http-exchange.js';
import type { OutgoingMessage, RequestId } from './json-rpc.js';
import type { Authorizer } from './oauth/authorizer.js';
import {
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  UpstreamHttpError,
} from './upstream.errors.js';
import type { Wire, WireListener } from './wire.js';

export interface HttpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The HTTP+SSE transport of 2024-11-05: one stream that tells where to POST, and carries all answers. */
export class SseWire implements Wire {
  readonly kind = 'sse';
  readonly epoch = 0;
  private readonly url: URL;
  private readonly ownHeaders: Readonly<Record<string, string>>;
  private readonly pool: HttpPool;
  private readonly posts = new Map<RequestId, HttpExchange>();
  private stream: HttpExchange | undefined;
  private endpoint: URL | undefined;
  private protocolVersion: string | undefined;
  private ended = false;

  constructor(
    target: HttpTarget,
    private readonly maxAnswerBytes: number,
    connectTimeoutMs: number,
    private readonly authorizer?: Authorizer,
  ) {
    this.url = new URL(target.url);
    this.ownHeaders = ownHeaders(target.headers);
    this.pool = new HttpPool(this.url, connectTimeoutMs);
  }

  async open(listener: WireListener): Promise<void> {
    await this.authorizer?.ready();
    const sent = this.authorizer?.header;
    const refusal = await this.openStream(listener);
    if (!refusal) return;
    const renewed = await this.authorizer?.renew({ ...refusal, sent });
    if (!renewed || (await this.openStream(listener))) throw new CredentialsRefused(refusal.status);
  }

  /** How the server refused, if it did. */
  private openStream(listener: WireListener): Promise<HttpAnswer | undefined> {
    return new Promise((resolve, reject) => {
      const stream = new HttpExchange(
        this.pool,
        {
          method: 'GET',
          path: this.url.pathname + this.url.search,
          headers: headerLines({
            ...this.ownHeaders,
            ...this.credentials,
            accept: 'text/event-stream',
          }),
        },
        this.maxAnswerBytes,
        {
          onEvent: ({ type, data }) => {
            if (type === 'message') listener.onFrame(data);
            else if (type === 'endpoint' && !this.endpoint) {
              const endpoint = this.endpointOf(data.toString('utf8'));
              if (!endpoint) {
                stream.abort();
                reject(new ConnectFailed('its message endpoint is on another origin'));
                return;
              }
              this.endpoint = endpoint;
              resolve(undefined);
            }
          },
          onOversized: () => listener.onOversized(undefined),
        },
      );
      this.stream = stream;
      const end = (reason: string): void => {
        reject(new ConnectFailed(reason));
        if (this.ended) return;
        this.ended = true;
        listener.onEnd(new ConnectionLost(reason, 'unknown'));
      };
      stream.done.then(
        (answer) => {
          const { status } = answer;
          if (status === 401 || status === 403) return resolve(answer);
          if (status >= 300) reject(new ConnectFailed(`HTTP ${status}`));
          end('the stream of events ended');
        },
        (error: unknown) => {
          const why = error instanceof ExchangeFailed ? error.message : String(error);
          end(`the stream of events broke (${why})`);
        },
      );
    });
  }

  async send(message: OutgoingMessage): Promise<void> {
    const { endpoint } = this;
    if (!endpoint || this.ended) throw new ConnectionLost('the stream of events is closed', 'no');
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (this.authorizer) await this.authorizer.ready();
    const sent = this.authorizer?.header;
    let { status, body, challenge } = await this.post(endpoint, message, id);
    if (await this.authorizer?.renew({ status, challenge, sent })) {
      ({ status, body } = await this.post(endpoint, message, id));
    }
    if (status === 401 || status === 403) throw new CredentialsRefused(status);
    if (status >= 300) throw new UpstreamHttpError(status, body.toString('utf8'));
  }

  abandon(id: RequestId): void {
    this.posts.get(id)?.abort();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  listen(): void {}

  logs(): readonly string[] {
    return [];
  }

  close(): Promise<void> {
    this.ended = true;
    this.stream?.abort();
    this.pool.destroy();
    return Promise.resolve();
  }

  private async post(
    endpoint: URL,
    message: OutgoingMessage,
    id: RequestId | undefined,
  ): Promise<HttpAnswer> {
    const post = new HttpExchange(
      this.pool,
      {
        method: 'POST',
        path: endpoint.pathname + endpoint.search,
        headers: headerLines({
          ...this.ownHeaders,
          ...this.credentials,
          'content-type': 'application/json',
          accept: 'application/json',
          ...(this.protocolVersion && { 'mcp-protocol-version': this.protocolVersion }),
        }),
        body: JSON.stringify(message),
      },
      this.maxAnswerBytes,
      { onEvent: () => undefined, onOversized: () => undefined },
    );
    if (id === undefined) post.abortAfter(UNAWAITED_MS);
    else this.posts.set(id, post);
    try {
      return await post.done;
    } catch (error) {
      if (!(error instanceof ExchangeFailed)) throw error;
      throw new ConnectionLost(error.message, error.sent ? 'unknown' : 'no', error);
    } finally {
      if (id !== undefined) this.posts.delete(id);
    }
  }

  private get credentials(): Record<string, string> {
    const authorization = this.authorizer?.header;
    return authorization === undefined ? {} : { authorization };
  }

  /** Our headers, with their credentials, go only to the origin that was registered. */
  private endpointOf(text: string): URL | undefined {
    if (!URL.canParse(text, this.url.href)) return undefined;
    const endpoint = new URL(text, this.url);
    return endpoint.origin === this.url.origin ? endpoint : undefined;
  }
}
