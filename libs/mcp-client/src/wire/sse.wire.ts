import { type Egress, type MessageLimits, ReadingShare } from '@app/platform';
import { RequestFailed, type HttpAnswer, HttpRequest, HttpPool, UNAWAITED_MS } from '@app/http1';
import {
  mcpHeader,
  messageBetween,
  messageText,
  type RpcMessage,
  type RpcId,
} from '@app/mcp-protocol';
import { headerLines, ownHeaders } from './http-headers.js';
import type { Authorizer } from './authorizer.js';
import {
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  tooMuch,
  UpstreamHttpError,
} from '../upstream.errors.js';
import type { Wire, WireListener } from './wire.js';

const SWEEP_EVERY_MS = 1_000;
/** How long a POST may stay open after its answer was read from the stream. */
const LINGER_MS = 1_000;

export interface HttpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  headersOfRequest?(): Readonly<Record<string, string>>;
}

/** The HTTP+SSE transport of 2024-11-05: one stream names the URL for POSTs and carries all answers. */
export class SseWire implements Wire {
  readonly kind = 'sse';
  readonly epoch = 0;
  readonly reading = new ReadingShare();
  readonly address: URL;
  private readonly ownHeaders: Readonly<Record<string, string>>;
  private readonly pool: HttpPool;
  /** Undefined while the request waits for credentials. */
  private readonly posts = new Map<RpcId, HttpRequest | undefined>();
  private stream: HttpRequest | undefined;
  private endpoint: URL | undefined;
  private protocolVersion: string | undefined;
  private ended = false;
  private listener: WireListener | undefined;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    target: HttpTarget,
    private readonly limits: MessageLimits,
    connectTimeoutMs: number,
    private readonly authorizer?: Authorizer,
    egress?: Egress,
  ) {
    this.address = new URL(target.url);
    this.ownHeaders = ownHeaders(target.headers);
    this.pool = new HttpPool(this.address, connectTimeoutMs, egress, this.reading);
  }

  async open(listener: WireListener): Promise<void> {
    this.listener = listener;
    await this.authorizer?.ready();
    const sent = this.authorizer?.header;
    const refusal = await this.openStream(listener);
    if (!refusal) return;
    const renewed = await this.authorizer?.renew({ ...refusal, sent });
    if (!renewed || (await this.openStream(listener))) {
      throw new CredentialsRefused(refusal.status, refusal.challenge);
    }
  }

  /** Resolves with the refusal of the server, if any. */
  private openStream(listener: WireListener): Promise<HttpAnswer | undefined> {
    return new Promise((resolve, reject) => {
      const stream = new HttpRequest(
        this.pool,
        {
          method: 'GET',
          path: this.address.pathname + this.address.search,
          headers: headerLines({
            ...this.ownHeaders,
            ...this.credentials,
            accept: 'text/event-stream',
          }),
        },
        this.limits,
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
          onOversized: (ends) => {
            const { isAnswer, id } = messageBetween(ends);
            if (isAnswer) listener.onOversized(id, tooMuch(ends.excess, this.limits.maxBytes));
          },
        },
      );
      this.stream = stream;
      const end = (reason: string): void => {
        reject(new ConnectFailed(reason));
        this.end(reason);
      };
      stream.done.then(
        (answer) => {
          const { status, advice } = answer;
          if (status === 401 || status === 403) return resolve(answer);
          if (status >= 300) {
            reject(new ConnectFailed(`HTTP ${status}${advice ? `: ${advice}` : ''}`));
          }
          end('the stream of events ended');
        },
        (error: unknown) => {
          const why = error instanceof RequestFailed ? error.message : String(error);
          end(`the stream of events broke (${why})`);
        },
      );
    });
  }

  async send(
    message: RpcMessage,
    _extraHeaders?: Readonly<Record<string, string>>,
    principal?: string,
  ): Promise<void> {
    const { endpoint } = this;
    if (!endpoint || this.ended) throw new ConnectionLost('the stream of events is closed', 'no');
    if (this.authorizer) await this.ready(this.authorizer, message);
    const sent = this.authorizer?.header;
    let { status, body, challenge, advice } = await this.post(endpoint, message, principal);
    if (await this.authorizer?.renew({ status, challenge, sent })) {
      ({ status, body, challenge, advice } = await this.post(endpoint, message, principal));
    }
    if (status === 401 || status === 403) throw new CredentialsRefused(status, challenge);
    if (status >= 300) throw new UpstreamHttpError(status, body.toString('utf8'), advice);
  }

  abandon(id: RpcId): void {
    this.posts.get(id)?.abort();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  /** A POST that is over was sent: its answer comes on the stream. */
  mayHaveSent(id: RpcId): boolean {
    return !this.posts.has(id) || this.posts.get(id)?.isSent === true;
  }

  forget(): void {}

  listen(): void {}

  stopListening(): void {}

  logs(): readonly string[] {
    return [];
  }

  close(): Promise<void> {
    this.ended = true;
    clearInterval(this.sweeper);
    this.stream?.abort();
    this.pool.destroy();
    return Promise.resolve();
  }

  private end(reason: string): void {
    if (this.ended) return;
    this.ended = true;
    this.listener?.onEnd(new ConnectionLost(reason, 'unknown'));
  }

  private async ready(authorizer: Authorizer, message: RpcMessage): Promise<void> {
    const id = requestIdOf(message);
    if (id !== undefined) this.posts.set(id, undefined);
    try {
      await authorizer.ready();
    } catch (error) {
      if (id !== undefined) this.posts.delete(id);
      throw error;
    }
  }

  private async post(
    endpoint: URL,
    message: RpcMessage,
    principal: string | undefined,
  ): Promise<HttpAnswer> {
    const id = requestIdOf(message);
    const post = new HttpRequest(
      this.pool,
      {
        method: 'POST',
        path: endpoint.pathname + endpoint.search,
        headers: headerLines({
          ...this.ownHeaders,
          ...this.credentials,
          'content-type': 'application/json',
          accept: 'application/json',
          ...(this.protocolVersion && { [mcpHeader.protocolVersion]: this.protocolVersion }),
        }),
        body: messageText(message),
        principal,
      },
      this.limits,
      { onEvent: () => undefined, onOversized: () => undefined },
    );
    if (id === undefined) post.abortAfter(UNAWAITED_MS);
    else this.track(id, post);
    try {
      return await post.done;
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (error.excess) throw tooMuch(error.excess, this.limits.maxBytes);
      // It may be gone before the end of its stream is read.
      if (error.reason === 'unreachable') this.end(`unreachable (${error.message})`);
      throw new ConnectionLost(error.message, error.sent ? 'unknown' : 'no', error);
    } finally {
      if (id !== undefined) this.posts.delete(id);
    }
  }

  /** A server may answer on the stream and never end the POST, which would leak a connection. */
  private track(id: RpcId, post: HttpRequest): void {
    this.posts.set(id, post);
    this.sweeper ??= setInterval(() => this.sweep(), SWEEP_EVERY_MS).unref();
  }

  private sweep(): void {
    for (const [id, post] of this.posts) {
      if (!this.listener?.awaits(id)) post?.abortAfter(LINGER_MS);
    }
  }

  private get credentials(): Record<string, string> {
    const authorization = this.authorizer?.header;
    return authorization === undefined ? {} : { authorization };
  }

  /** Our headers, with their credentials, go only to the registered origin. */
  private endpointOf(text: string): URL | undefined {
    if (!URL.canParse(text, this.address.href)) return undefined;
    const endpoint = new URL(text, this.address);
    return endpoint.origin === this.address.origin ? endpoint : undefined;
  }
}

function requestIdOf(message: RpcMessage): RpcId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}
