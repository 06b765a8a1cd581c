import {
  mcpHeader,
  messageBetween,
  messageText,
  type RpcId,
  type RpcMessage,
} from '@app/mcp-protocol';
import {
  type BothEnds,
  UnhashedSet,
  type Egress,
  type MessageLimits,
  ReadingShare,
} from '@app/platform';
import {
  type AnswerHead,
  RequestFailed,
  type RequestHandlers,
  type HttpAnswer,
  HttpRequest,
  HttpPool,
  type StreamEvent,
  UNAWAITED_MS,
} from '@app/http1';
import { HttpSession, saysSessionUnknown } from './http-session.js';
import { ResumedStreams } from './streams/resumed-streams.js';
import { StandingStream } from './streams/standing-stream.js';
import type { UpstreamRequest, UpstreamRequestOptions } from './upstream-request.js';
import type { Authorizer } from './authorizer.js';
import type { HttpTarget } from './sse.wire.js';
import {
  ConnectionLost,
  CredentialsRefused,
  tooMuch,
  UpstreamHttpError,
} from '../upstream.errors.js';
import { SessionExpired, type Wire, type WireListener } from './wire.js';

/** Close the response stream this long after the final message. */
const LINGER_MS = 1_000;
const FAREWELL_MS = 1_000;

interface Sender {
  readonly extra: Readonly<Record<string, string>> | undefined;
  readonly principal: string | undefined;
}

/** Streamable HTTP of either era: every request is a POST, answered by JSON or an SSE stream. */
export class HttpWire implements Wire, RequestHandlers<UpstreamRequestOptions> {
  readonly kind = 'http';
  readonly reading = new ReadingShare();
  readonly address: URL;
  private readonly path: string;
  private readonly session: HttpSession;
  private readonly pool: HttpPool;
  private readonly running = new UnhashedSet<UpstreamRequest>();
  private readonly resumed: ResumedStreams;
  private readonly standing: StandingStream;
  private readonly closing = new AbortController();
  private listener: WireListener | undefined;

  constructor(
    target: HttpTarget,
    private readonly limits: MessageLimits,
    connectTimeoutMs: number,
    private readonly authorizer?: Authorizer,
    egress?: Egress,
  ) {
    const url = new URL(target.url);
    this.address = url;
    this.path = url.pathname + url.search;
    this.session = new HttpSession(target, authorizer);
    this.pool = new HttpPool(url, connectTimeoutMs, egress, this.reading);
    const { signal } = this.closing;
    this.resumed = new ResumedStreams(
      {
        awaits: (id) => this.isAwaited(id),
        open: (id, lastEventId, principal) => this.openStream(lastEventId, id, principal),
        refuseUnlessResumable: (error, request) => this.refuseUnlessResumable(error, request),
        over: (request) => this.running.remove(request),
      },
      signal,
    );
    this.standing = new StandingStream(
      {
        epoch: () => this.epoch,
        credentials: () => this.authorizer?.header,
        open: (lastEventId) => this.openStream(lastEventId),
        mayOpenAgain: (answer, sent, epoch) => this.mayListenAgain(answer, sent, epoch),
      },
      signal,
    );
  }

  get epoch(): number {
    return this.session.epoch;
  }

  open(listener: WireListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  send(
    message: RpcMessage,
    extra?: Readonly<Record<string, string>>,
    principal?: string,
  ): Promise<void> {
    const sender = { extra, principal };
    const waiting = this.authorizer?.ready();
    return waiting ? waiting.then(() => this.post(message, sender)) : this.post(message, sender);
  }

  abandon(id: RpcId): void {
    for (const request of this.running) if (request.options.carries === id) request.abort();
  }

  setProtocolVersion(version: string): void {
    this.session.setProtocolVersion(version);
  }

  mayHaveSent(id: RpcId): boolean {
    if (this.resumed.has(id)) return true;
    for (const request of this.running) {
      if (request.options.carries === id && request.isSent) return true;
    }
    return false;
  }

  forget(): void {
    this.session.forget();
  }

  listen(): void {
    this.standing.start();
  }

  stopListening(): void {
    this.standing.stop();
  }

  logs(): readonly string[] {
    return [];
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    this.stopListening();
    for (const request of this.running) request.abort();
    if (this.session.hasId) {
      const farewell = this.start({ method: 'DELETE', headers: this.session.headersOfFarewell() });
      farewell.abortAfter(FAREWELL_MS);
      await farewell.done.catch(() => undefined);
    }
    this.pool.destroy();
  }

  onHead(head: AnswerHead, request: UpstreamRequest): void {
    if (!request.options.begins || head.status >= 300) return;
    this.session.begin(head.get(mcpHeader.sessionId));
  }

  onEvent({ type, data }: StreamEvent, request: UpstreamRequest): void {
    if (type !== 'message' || data.length === 0) return;
    const { carries } = request.options;
    this.listener?.onFrame(data, carries);
    if (carries !== undefined && !this.listener?.awaits(carries)) request.abortAfter(LINGER_MS);
  }

  onOversized(ends: BothEnds, { options: { carries } }: UpstreamRequest): void {
    if (carries === undefined || !messageBetween(ends).isAnswer) return;
    this.listener?.onOversized(carries, tooMuch(ends.excess, this.limits.maxBytes));
  }

  /** Repeats the request once if the credentials have changed since the refusal. */
  private async post(message: RpcMessage, sender: Sender, isRepeated = false): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (!this.isAwaited(id)) return;
    const begins = 'method' in message && message.method === 'initialize';
    const hadSession = this.session.hasId && !begins;
    const sent = this.authorizer?.header;
    const request = this.start({
      method: 'POST',
      headers: begins
        ? this.session.headersOfBegin()
        : this.session.headersOfPost(message, sender.extra),
      body: messageText(message),
      carries: id,
      begins,
      principal: sender.principal,
    });
    if (id === undefined) request.abortAfter(UNAWAITED_MS);
    let answer: HttpAnswer | undefined;
    try {
      answer = await request.done;
      if (request.isStream) answer = undefined;
    } catch (error) {
      this.refuseUnlessResumable(error, request);
    } finally {
      if (id !== undefined) this.running.remove(request);
    }
    if (!answer) return id === undefined ? undefined : this.resumed.resume(id, request);
    if (answer.status >= 400 && !isRepeated && (await this.isRenewed(answer, sent))) {
      return this.post(message, sender, true);
    }
    this.accept(answer, hadSession, id);
  }

  /** Whether new credentials are available since the refusal. */
  private async isRenewed(
    { status, challenge }: HttpAnswer,
    sent: string | undefined,
  ): Promise<boolean> {
    return (await this.authorizer?.renew({ status, challenge, sent })) === true;
  }

  private isAwaited(id: RpcId | undefined): boolean {
    return id === undefined || this.listener?.awaits(id) === true;
  }

  private start(rest: Omit<UpstreamRequestOptions, 'path'>): UpstreamRequest {
    const { method, headers, body, carries, begins, principal } = rest;
    const options = { method, path: this.path, headers, body, carries, begins, principal };
    const request = new HttpRequest(this.pool, options, this.limits, this);
    if (carries !== undefined) this.running.add(request);
    return request;
  }

  private openStream(
    lastEventId: string | undefined,
    carries?: RpcId,
    principal?: string,
  ): UpstreamRequest {
    const headers = this.session.headersOfStream(lastEventId);
    return this.start({ method: 'GET', headers, carries, principal });
  }

  /** Throws unless the broken SSE stream can be resumed with Last-Event-ID. */
  private refuseUnlessResumable(error: unknown, request: UpstreamRequest): void {
    if (!(error instanceof RequestFailed)) throw error;
    if (error.excess) throw tooMuch(error.excess, this.limits.maxBytes);
    if (error.reason === 'broken' && request.lastEventId !== undefined) return;
    if (error.reason === 'unreachable') this.end(`unreachable (${error.message})`);
    throw new ConnectionLost(error.message, error.sent ? 'unknown' : 'no', error);
  }

  private accept(answer: HttpAnswer, hadSession: boolean, id: RpcId | undefined): void {
    const { status, body, challenge, advice } = answer;
    if (status === 401 || status === 403) throw new CredentialsRefused(status, challenge);
    if (hadSession && saysSessionUnknown(status, body)) throw new SessionExpired();
    if (status >= 300) throw new UpstreamHttpError(status, body.toString('utf8'), advice);
    if (id === undefined || !this.listener) return;
    if (body.length > 0) this.listener.onFrame(body, id);
    if (this.listener.awaits(id)) {
      throw new ConnectionLost('its HTTP answer does not hold the answer', 'unknown');
    }
  }

  /** False after a refusal that another attempt would get again. */
  private async mayListenAgain(
    answer: HttpAnswer | undefined,
    sent: string | undefined,
    epoch: number,
  ): Promise<boolean> {
    const status = answer?.status ?? 0;
    if (this.session.hasId && saysSessionUnknown(status, answer?.body)) {
      this.listener?.onExpired(epoch);
      return true;
    }
    if (!answer || status < 400 || status >= 500) return true;
    return this.isRenewed(answer, sent).catch(() => false);
  }

  private end(reason: string): void {
    this.listener?.onEnd(new ConnectionLost(reason, 'no'));
  }
}
