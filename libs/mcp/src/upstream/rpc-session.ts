import { Logger } from '@nestjs/common';
import { AppError, isJsonObject, type JsonObject, WrittenObject } from '@app/platform';
import {
  type IncomingMessage,
  type OutgoingRequest,
  readAnswer,
  readFrame,
  type RequestId,
} from './json-rpc.js';
import { listAll } from './listing.js';
import { ModernEra } from './modern-era.js';
import { type Negotiated, Negotiation } from './negotiation.js';
import { type Call, PendingCalls } from './pending-calls.js';
import { RateLimit } from './rate-limit.js';
import { ServedRequests } from './served-requests.js';
import type {
  CloseOptions,
  ConnectOptions,
  ListKind,
  ListLimits,
  NotificationHandler,
  ProtocolEra,
  RequestOptions,
  ServerRequestHandler,
  SessionEnd,
  UpstreamSession,
} from './upstream.js';
import {
  AnswerTooLarge,
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  RequestCancelled,
  UpstreamHttpError,
  UpstreamProtocolError,
  UpstreamRpcError,
} from './upstream.errors.js';
import { SessionExpired, type Wire, type WireListener } from './wire.js';

const MAX_NOTIFICATIONS_PER_SECOND = 1_000;

/**
 * JSON-RPC over one wire: ids, deadlines, what the server asks and says, a new session when the old one
 * is forgotten, and the end. Of an answer nothing is looked at but its envelope, so that it can be
 * passed on as it is.
 */
export class RpcSession implements UpstreamSession, WireListener {
  readonly closed: Promise<SessionEnd>;
  private readonly logger = new Logger(RpcSession.name);
  private resolveClosed!: (end: SessionEnd) => void;
  private ending: AppError | undefined;
  private negotiation: Negotiation | undefined;
  private negotiated: Negotiated | undefined;
  private renewing: Promise<void> | undefined;
  private readonly calls = new PendingCalls((id, reason) => this.cancel(id, reason));
  /** Requests whose answer is the end of a stream, not of a call. */
  private readonly streams = new Map<RequestId, () => void>();
  private readonly served = new ServedRequests((answer) => this.wire.send(answer));
  private readonly notificationHandlers = new Set<NotificationHandler>();
  private readonly notificationRate = new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
  private readonly renewalHandlers = new Set<() => void>();
  private requestHandler: ServerRequestHandler | undefined;
  private modern: ModernEra | undefined;

  private constructor(
    private readonly wire: Wire,
    private readonly options: ConnectOptions,
  ) {
    this.closed = new Promise((resolve) => {
      this.resolveClosed = resolve;
    });
  }

  /** Rejects with the wire closed when no session came about. */
  static async open(
    wire: Wire,
    options: ConnectOptions,
    era: ProtocolEra | undefined,
  ): Promise<RpcSession> {
    if (options.signal?.aborted) throw new ConnectFailed('it is no longer wanted');
    const session = new RpcSession(wire, options);
    let timer: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      const seconds = options.connectTimeoutMs / 1000;
      const expire = (): void => reject(new ConnectFailed(`no session within ${seconds} s`));
      timer = setTimeout(expire, options.connectTimeoutMs);
      stop = () => reject(new ConnectFailed('it is no longer wanted'));
      options.signal?.addEventListener('abort', stop, { once: true });
    });
    try {
      await Promise.race([session.start(era), tooLong]);
      return session;
    } catch (error) {
      await session.end(new ConnectionLost('it was never open', 'no'), 'lost', { force: true });
      throw error;
    } finally {
      clearTimeout(timer);
      if (stop) options.signal?.removeEventListener('abort', stop);
    }
  }

  get era(): ProtocolEra {
    return this.agreed.era;
  }
  get protocolVersion(): string {
    return this.agreed.protocolVersion;
  }
  get serverInfo(): JsonObject {
    return this.agreed.serverInfo;
  }
  get capabilities(): JsonObject {
    return this.agreed.capabilities;
  }
  get instructions(): string | undefined {
    return this.agreed.instructions;
  }
  get pending(): number {
    return this.calls.size + (this.modern?.waiting ?? 0);
  }

  async request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<JsonObject> {
    const result = (await this.relay(method, params, options)).toObject();
    if (!result) throw new UpstreamProtocolError('a result is no JSON');
    return result;
  }

  relay(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<WrittenObject> {
    if (!this.modern) return this.exchange(method, params, options);
    const handler = options.onServerRequest ?? this.requestHandler;
    return this.modern.request(method, params, options, handler);
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    if (this.ending) throw this.ending;
    await this.wire.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  onNotification(handler: NotificationHandler): () => void {
    this.notificationHandlers.add(handler);
    return () => this.notificationHandlers.delete(handler);
  }

  onRenewal(handler: () => void): void {
    this.renewalHandlers.add(handler);
  }

  setRequestHandler(handler: ServerRequestHandler): void {
    this.requestHandler = handler;
  }

  listAll(kind: ListKind, limits: ListLimits): Promise<JsonObject[]> {
    return listAll(this, kind, limits);
  }

  logs(): readonly string[] {
    return this.wire.logs();
  }

  async close(options: CloseOptions = {}): Promise<void> {
    await this.end(new ConnectionLost('the session was closed', 'unknown'), 'asked', options);
  }

  onFrame(bytes: Buffer, during?: RequestId): boolean {
    const answer = this.negotiation ? undefined : readAnswer(bytes);
    if (answer) {
      if (!this.ending) this.receiveResult(answer.id, answer.result);
      return true;
    }
    const frames = readFrame(bytes.toString('utf8'));
    if (this.ending) return true;
    for (const { raw, message } of frames) {
      const answers = message.kind === 'result' || message.kind === 'error' ? message.id : null;
      if (answers !== null && this.negotiation?.awaits(answers)) this.negotiation.deliver(raw);
      else this.receive(message, during);
    }
    return frames.length > 0;
  }

  onOversized(id: RequestId | undefined): void {
    const about = id ?? this.calls.only()?.id;
    const error = new AnswerTooLarge(this.options.maxAnswerBytes);
    if (about !== undefined) this.calls.giveUp(about, error);
  }

  onExpired(epoch: number): void {
    this.renew(epoch).catch(() => undefined);
  }

  onEnd(error: AppError): void {
    this.negotiation?.end(error);
    void this.end(error, 'lost', { force: true });
  }

  awaits(id: RequestId): boolean {
    return this.calls.has(id) || this.streams.has(id) || this.negotiation?.awaits(id) === true;
  }

  private get agreed(): Negotiated {
    if (!this.negotiated) throw new ConnectFailed('the session is not open yet');
    return this.negotiated;
  }

  private async start(era: ProtocolEra | undefined): Promise<void> {
    await this.wire.open(this);
    await this.negotiate(era);
    if (this.era === 'legacy') return this.wire.listen();
    this.modern = new ModernEra(
      this.agreed,
      this.options,
      (method, params, options) => this.exchange(method, params, options),
      (params, opened) => this.openStream('subscriptions/listen', params, opened),
    );
    this.modern.start();
  }

  private async negotiate(era: ProtocolEra | undefined): Promise<void> {
    this.negotiation = new Negotiation(this.wire, this.options);
    try {
      this.negotiated = await this.negotiation.run(era, this.options.connectTimeoutMs);
    } finally {
      this.negotiation = undefined;
    }
  }

  /** A new session on the same wire, once however many calls found the old one gone. */
  private renew(epoch: number): Promise<void> {
    if (this.ending) return Promise.reject(this.ending);
    if (this.wire.epoch !== epoch && !this.renewing) return Promise.resolve();
    this.renewing ??= this.negotiate('legacy')
      .then(() => {
        for (const handler of this.renewalHandlers) this.guard(handler);
      })
      .catch(async (error: unknown) => {
        const lost =
          error instanceof CredentialsRefused
            ? error
            : new ConnectionLost('the server forgot the session and gave no new one', 'no', error);
        await this.end(lost, lost === error ? 'refused' : 'lost', { force: true });
        throw lost;
      })
      .finally(() => {
        this.renewing = undefined;
      });
    return this.renewing;
  }

  private exchange(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<WrittenObject> {
    if (this.ending) return Promise.reject(new ConnectionLost('it has ended', 'no', this.ending));
    if (options.signal?.aborted) return Promise.reject(new RequestCancelled());
    return new Promise((resolve, reject) => {
      const id = this.calls.add(method, options, { resolve, reject });
      const message = this.requestMessage(id, method, params, options);
      const sent = this.renewing
        ? this.renewing.then(() => this.deliver(message))
        : this.deliver(message);
      sent.then(
        () => {
          if (this.wire.kind !== 'http' || !this.calls.has(id)) return;
          this.fail(id, new ConnectionLost('there was no answer in its answer', 'unknown'));
        },
        (error: unknown) => this.fail(id, explained(error)),
      );
    });
  }

  /** Sends; and once more, in a new session, when the server had forgotten ours and so cannot have executed it. */
  private deliver(message: OutgoingRequest): Promise<void> {
    const { epoch } = this.wire;
    const headers = this.modern?.headersFor(message.method, message.params);
    const sent = this.wire.send(message, headers);
    // Only a wire whose server gives sessions can lose one.
    if (this.wire.kind !== 'http') return sent;
    return sent.catch(async (error: unknown) => {
      if (!(error instanceof SessionExpired)) throw error;
      await this.renew(epoch);
      if (this.awaits(message.id)) await this.wire.send(message, headers);
    });
  }

  private requestMessage(
    id: RequestId,
    method: string,
    params: JsonObject | undefined,
    options: Pick<RequestOptions, 'meta' | 'onProgress'>,
  ): OutgoingRequest {
    const given = params?.['_meta'];
    if (!this.modern && given === undefined && !options.meta && !options.onProgress) {
      return { jsonrpc: '2.0', id, method, params };
    }
    // A token of somebody else's could be the number of another call of ours.
    const { progressToken: _foreign, ...kept } = isJsonObject(given) ? given : {};
    const meta: JsonObject = {
      ...this.modern?.envelope(),
      ...kept,
      ...options.meta,
      ...(options.onProgress && { progressToken: id }),
    };
    return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
  }

  /** A request that stays open to carry notifications. Resolves when it is over, however that came. */
  private openStream(
    method: string,
    params: JsonObject,
    opened: (cancel: () => void) => void,
  ): Promise<void> {
    if (this.ending) return Promise.resolve();
    const id = this.calls.nextId();
    return new Promise((resolve) => {
      const over = (): void => {
        if (this.streams.delete(id)) resolve();
      };
      this.streams.set(id, over);
      opened(() => {
        over();
        this.cancel(id, 'no longer needed');
      });
      this.deliver(this.requestMessage(id, method, params, {})).then(() => {
        if (this.wire.kind === 'http') over();
      }, over);
    });
  }

  private receive(message: IncomingMessage, during: RequestId | undefined): void {
    switch (message.kind) {
      case 'result':
        return isJsonObject(message.result)
          ? this.receiveResult(message.id, WrittenObject.of(message.result))
          : this.fail(message.id, new UpstreamProtocolError('a result is no object'));
      case 'error': {
        const id = message.id ?? during;
        if (id === undefined) return;
        this.streams.get(id)?.();
        return this.fail(id, UpstreamRpcError.of(message.error));
      }
      case 'request': {
        const call = this.callOf(during);
        void this.served.serve(message, call?.options.onServerRequest ?? this.requestHandler, call);
        return;
      }
      case 'notification':
        return this.hear(message.method, message.params, during);
      default:
        message satisfies never;
    }
  }

  /** The call a message belongs to: the wire says so, or there is no other. */
  private callOf(during: RequestId | undefined): Call | undefined {
    return during === undefined ? this.calls.only() : this.calls.get(during);
  }

  private receiveResult(id: RequestId, result: WrittenObject): void {
    if (this.streams.size > 0) this.streams.get(id)?.();
    const call = this.calls.get(id);
    if (!call) return;
    if (this.modern && call.method === 'tools/list') this.modern.noteTools(result.get('tools'));
    this.calls.resolve(id, result);
  }

  private hear(method: string, params: JsonObject, during: RequestId | undefined): void {
    if (this.ending || !this.notificationRate.allows(performance.now())) return;
    if (method === 'notifications/progress') return this.hearProgress(params);
    if (method === 'notifications/cancelled') {
      const id = params['requestId'];
      if (typeof id !== 'string' && typeof id !== 'number') return;
      this.served.cancel(id);
      this.streams.get(id)?.();
      return;
    }
    if (method === 'notifications/message') {
      const onLog = this.callOf(during)?.options.onLog;
      if (onLog) return onLog(params);
    }
    for (const handler of this.notificationHandlers) {
      this.guard(() => handler(method, params));
    }
  }

  private hearProgress(params: JsonObject): void {
    const token = params['progressToken'];
    if (typeof token !== 'number') return;
    const call = this.calls.get(token);
    if (!call?.options.onProgress) return;
    this.calls.extend(token);
    this.guard(() => call.options.onProgress?.(params));
  }

  /** We are in the middle of reading from the wire: a failing handler must not be taken for its end. */
  private guard(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.logger.error({ err: error }, 'a handler failed');
    }
  }

  /** 401 concerns the session; 403 may be about this one tool, and must not let its caller end the others' session. */
  private fail(id: RequestId, error: Error): void {
    this.calls.reject(id, error);
    if (error instanceof CredentialsRefused && error.httpStatus === 401) {
      void this.end(error, 'refused', { force: true });
    }
  }

  /** Nobody waits for it any more, and the server is told so. */
  private cancel(id: RequestId, reason: string): void {
    this.wire.abandon(id);
    // There the end of the stream says it.
    if (this.wire.kind === 'http' && this.modern) return;
    this.notify('notifications/cancelled', { requestId: id, reason }).catch(() => undefined);
  }

  private async end(
    error: AppError,
    cause: SessionEnd['cause'],
    options: CloseOptions,
  ): Promise<void> {
    if (!this.ending) {
      this.ending = error;
      this.modern?.stop();
      this.calls.rejectAll(error);
      for (const over of [...this.streams.values()]) over();
      this.served.cancelAll();
      this.resolveClosed({ reason: error.message, cause });
    }
    await this.wire.close(options);
  }
}

function explained(error: unknown): Error {
  if (error instanceof UpstreamHttpError) {
    const [first] = readFrame(error.body);
    if (first?.message.kind === 'error') return UpstreamRpcError.of(first.message.error);
  }
  if (error instanceof SessionExpired) {
    return new ConnectionLost('the server forgets every session', 'no');
  }
  return error instanceof Error ? error : new ConnectionLost(String(error), 'unknown');
}
