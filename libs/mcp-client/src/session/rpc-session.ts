import { Logger } from '@nestjs/common';
import {
  AppError,
  type BudgetShare,
  changed,
  inSeconds,
  type JsonObject,
  SharedBudget,
  RawJsonObject,
} from '@app/platform';
import {
  idJson,
  type Incoming,
  type ProtocolEra,
  type RpcRequest,
  type Provenance,
  readFrame,
  type RpcErrorBody,
  type RpcId,
  type UnreadableMessage,
  UpstreamRpcError,
} from '@app/mcp-protocol';
import { AnswerIds } from './calls/answer-ids.js';
import { EchoMask } from './echo-mask.js';
import { ListAccount, listAll } from '../list/listing.js';
import { ModernEra } from '../modern/modern-era.js';
import { type Negotiated, Negotiation } from '../connect/negotiation.js';
import { EraChanged, isEraRefusal } from './era-refusal.js';
import { EraTranslation } from './era-translation.js';
import { inTime, unwanted } from './in-time.js';
import { OpenStreams } from './calls/open-streams.js';
import { type Call, PendingCalls } from './calls/pending-calls.js';
import { Renewal, RENEW_WITHIN_MS } from './renewal.js';
import { requestMessage } from './request-message.js';
import { answeredIn, explained, ownId } from './response.js';
import { ServerMessages, type SessionPort } from '../server-messages/server-messages.js';
import type {
  CloseOptions,
  ConnectOptions,
  ListKind,
  ListLimits,
  NotificationHandler,
  RequestOptions,
  RootsProvider,
  SessionEnd,
  UpstreamSession,
} from '../upstream.js';
import {
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  RequestCancelled,
  UpstreamProtocolError,
} from '../upstream.errors.js';
import { SessionExpired, type Wire, type WireListener } from '../wire/wire.js';

const DEFAULT_LIST_BYTES = 32_000_000;
const LISTING_SERVERS = 8;
const PING_WITHIN_MS = 3_000;
const MOVED = 'another replica leads and runs the server';

/**
 * JSON-RPC over one wire: ids, deadlines, server requests and notifications, a new session when the server lost
 * the old one, and the end. Only the envelope of an answer is read, so that its result can be forwarded
 * unchanged.
 */
export class RpcSession implements UpstreamSession, WireListener {
  readonly closed: Promise<SessionEnd>;
  private readonly logger = new Logger(RpcSession.name);
  private resolveClosed!: (end: SessionEnd) => void;
  private ending: AppError | undefined;
  private negotiation: Negotiation | undefined;
  private negotiated: Negotiated | undefined;
  private readonly renewal: Renewal;
  private readonly calls: PendingCalls;
  private readonly answers: AnswerIds;
  private readonly messages: ServerMessages;
  private readonly streams = new OpenStreams();
  private readonly translation = new EraTranslation((...asked) => this.dispatch(...asked));
  private verifying: Promise<void> | undefined;
  private readonly lists: ListAccount;
  private readonly listShare: BudgetShare;
  private readonly echoes: EchoMask;
  private modern: ModernEra | undefined;

  private constructor(
    private readonly wire: Wire,
    private readonly options: ConnectOptions,
  ) {
    const { maxListBytes = DEFAULT_LIST_BYTES } = options;
    this.listShare = (options.listing ?? new SharedBudget(maxListBytes * LISTING_SERVERS)).share();
    this.lists = new ListAccount(maxListBytes, this.listShare);
    this.echoes = new EchoMask(options.credentials ?? [], options.authorizer);
    this.closed = new Promise((resolve) => {
      this.resolveClosed = resolve;
    });
    const isShared = wire.kind !== 'http';
    this.calls = new PendingCalls(
      (call, reason) => {
        this.answers.noteGivenUp(call.id);
        this.messages.noteGivenUp(call);
        this.cancel(call.id, reason);
      },
      { guessableIds: !isShared },
    );
    this.answers = new AnswerIds(
      {
        calls: this.calls,
        streams: this.streams,
        awaits: (id) => this.awaits(id),
        failExchange: (id, error) => {
          this.fail(id, error);
          this.wire.abandon(id);
        },
        answeredLate: (id) => this.messages.users.noteAnswered(id),
        lose: (reason) =>
          void this.end(new ConnectionLost(reason, 'unknown'), 'lost', { force: true }),
      },
      isShared,
    );
    this.renewal = new Renewal({
      negotiate: (era) => this.negotiateAgain(era),
      end: (error, cause) => this.end(error, cause, { force: true }),
      guarded: (handle) => this.guarded(handle),
    });
    const port: SessionPort = {
      send: (answer) => this.wire.send(answer),
      announceRoots: () => {
        this.notify('notifications/roots/list_changed').catch(() => undefined);
      },
      ping: () => this.sendRequest('ping', undefined, { timeoutMs: PING_WITHIN_MS }),
      giveUp: (reason) => void this.end(new ConnectionLost(reason, 'no'), 'lost', { force: true }),
      callersAsked: () => this.options.onCallersAsked?.(),
      log: (line) => this.options.onLogLine?.(line),
    };
    this.messages = new ServerMessages(this.calls, port, options.asksCallers);
    options.tenure?.ended.addEventListener('abort', this.move, { once: true });
  }

  /** Rejects and closes the wire when no session could be opened. */
  static async open(
    wire: Wire,
    options: ConnectOptions,
    era: ProtocolEra | undefined,
  ): Promise<RpcSession> {
    const { signal, connectTimeoutMs: ms } = options;
    if (signal?.aborted) throw unwanted();
    const session = new RpcSession(wire, options);
    try {
      const reason = `no session within ${inSeconds(ms)}`;
      await inTime(session.start(era), { ms, reason, signal });
      return session;
    } catch (error) {
      await session.end(new ConnectionLost('it was never open', 'no'), 'lost', { force: true });
      throw error;
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
  get user(): string | null | undefined {
    return this.messages.users.only;
  }
  get address(): URL | undefined {
    return this.wire.address;
  }
  get provenance(): Provenance {
    return this.agreed.provenance;
  }
  get pending(): number {
    return this.calls.ofUsers + (this.modern?.waiting ?? 0);
  }

  get verified(): Promise<void> {
    return this.verifying ?? Promise.resolve();
  }

  async request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<JsonObject> {
    return (await this.requestBytes(method, params, options)).toObject();
  }

  requestBytes(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<RawJsonObject> {
    const { caller } = options;
    if (caller) this.messages.users.note(caller.principal);
    return this.dispatch(method, params, options);
  }

  private dispatch(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<RawJsonObject> {
    const { caller } = options;
    const via = this.agreed.provenance.metaFor(params);
    const told = via ? { ...options, meta: { ...options.meta, ...via } } : options;
    if (this.modern) return this.modern.request(method, params, told, told.onServerRequest);
    if (!caller || this.messages.isFreeFor(caller)) return this.sendRequest(method, params, told);
    return this.messages.admit(caller, told, (left) => this.sendRequest(method, params, left));
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    if (this.ending) throw this.ending;
    await this.wire.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  onNotification(handler: NotificationHandler): () => void {
    return this.messages.onNotification(handler);
  }

  onRenewal(handler: () => void): void {
    this.renewal.onDone(handler);
  }

  setRootsProvider(provider: RootsProvider): void {
    this.messages.setRootsProvider(provider);
  }

  listAll(kind: ListKind, limits: ListLimits): Promise<JsonObject[]> {
    return listAll(this, kind, limits, this.lists);
  }

  logs(): readonly string[] {
    return this.wire.logs();
  }

  async close(options: CloseOptions = {}): Promise<void> {
    await this.end(new ConnectionLost('the session was closed', 'unknown'), 'asked', options);
  }

  /** Runs in a listener of a stream, where an error would end the process: only this message is lost. */
  onFrame(bytes: Buffer, during?: RpcId): boolean {
    try {
      return this.handleFrame(bytes, during);
    } catch (error) {
      this.logger.error({ err: error }, 'session.handler_failed');
      return true;
    }
  }

  private handleFrame(bytes: Buffer, during: RpcId | undefined): boolean {
    this.wire.reading.noteMessage();
    const masked = this.echoes.frame(bytes);
    if (!masked) {
      const error = new UpstreamProtocolError('a message repeats its credentials too often');
      if (during !== undefined) this.fail(during, error);
      return true;
    }
    const frame = readFrame(masked);
    if (frame.kind === 'unreadable') return this.receiveUnreadable(frame, during);
    if (this.ending) return true;
    if (frame.kind === 'answer') {
      const { id, result } = frame;
      if (!this.isForNegotiation(id, during)) this.receiveResult(id, result, during);
      else this.negotiation?.deliver({ jsonrpc: '2.0', id, result: result.toObject() });
      return true;
    }
    for (const { raw, incoming } of frame.messages) {
      if (this.isForNegotiation(answeredIn(incoming), during)) this.negotiation?.deliver(raw);
      else this.receive(incoming, during);
    }
    // An answer is not charged for reading time, but the other messages of its batch are.
    if (frame.messages.length > 1) this.wire.reading.noteBatch();
    return frame.messages.length > 0;
  }

  private isForNegotiation(id: RpcId | null, during: RpcId | undefined): id is string | number {
    if (typeof id === 'bigint' || id === null) return false;
    return (during === undefined || during === id) && this.negotiation?.awaits(id) === true;
  }

  /** The message cannot be read; the request that it seems to answer fails, as no other answer will come. */
  private receiveUnreadable(message: UnreadableMessage, during: RpcId | undefined): boolean {
    const id = this.answers.requestOfUnreadable(message.id, during);
    if (!message.isMessage && during === undefined) return false;
    if (id !== undefined && message.isAnswer) {
      this.fail(id, new UpstreamProtocolError(`its answer is not JSON: ${message.reason}`));
    }
    return message.isMessage;
  }

  onOversized(id: RpcId | undefined, error: AppError): void {
    // Where every request has an exchange, no call waits for a message outside of one.
    if (id === undefined && this.wire.kind === 'http' && !this.negotiation) return;
    const about = id ?? this.calls.only()?.id;
    if (this.negotiation) this.onEnd(error);
    else if (about !== undefined) this.calls.giveUp(about, error);
    // One of several calls never gets its answer: fail all now, instead of one at its deadline.
    else if (this.calls.size > 0) this.onEnd(error);
  }

  onExpired(epoch: number): void {
    if (this.ending || this.wire.epoch !== epoch) return;
    this.renewal.run(this.renewal.generation, 'legacy').catch(() => undefined);
  }

  onEnd(error: AppError): void {
    void this.end(error, 'lost', { force: true });
  }

  awaits(id: RpcId): boolean {
    return this.calls.has(id) || this.streams.has(id) || this.negotiation?.awaits(id) === true;
  }

  private get agreed(): Negotiated {
    if (!this.negotiated) throw new ConnectFailed('the session is not open yet');
    return this.negotiated;
  }

  private async start(era: ProtocolEra | undefined): Promise<void> {
    await this.wire.open(this);
    await this.negotiate(era, this.options.connectTimeoutMs);
  }

  private negotiateAgain(era: ProtocolEra | undefined): Promise<void> {
    if (this.ending) return Promise.reject(this.ending);
    this.wire.forget();
    return this.negotiate(era, RENEW_WITHIN_MS);
  }

  private async negotiate(era: ProtocolEra | undefined, withinMs: number): Promise<void> {
    const negotiation = new Negotiation(this.wire, this.options);
    this.negotiation = negotiation;
    try {
      this.negotiated = await negotiation.run(era, withinMs);
    } finally {
      if (this.negotiation === negotiation) this.negotiation = undefined;
    }
    if (this.negotiated.era === 'legacy') this.beginLegacy();
    else this.beginModern(this.negotiated);
  }

  private beginLegacy(): void {
    if (this.modern) {
      this.modern.stop();
      this.modern = undefined;
      this.streams.endAll();
    }
    this.wire.listen();
  }

  private beginModern(agreed: Negotiated): void {
    this.wire.stopListening();
    if (this.modern) return this.modern.renew(agreed);
    this.modern = new ModernEra(
      agreed,
      this.options,
      (method, params, options) => this.sendRequest(method, params, options),
      (params, opened) => this.openStream('subscriptions/listen', params, opened),
    );
    this.modern.start();
  }

  private sendRequest(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<RawJsonObject> {
    // Also requests that waited, after the process stood still.
    if (this.options.tenure?.isOver) this.move();
    if (this.ending) return Promise.reject(new ConnectionLost('it has ended', 'no', this.ending));
    if (options.signal?.aborted) return Promise.reject(new RequestCancelled());
    return new Promise((resolve, reject) => {
      const id = this.calls.add(method, options, { resolve, reject });
      if (options.span) options.span.requestId = id;
      const sent = this.renewal.isRunning
        ? this.sendAfterRenewal(id, method, params, options)
        : this.sendInSession(id, method, params, options);
      sent.then(
        () => {
          if (this.wire.kind !== 'http' || !this.calls.has(id)) return;
          this.fail(id, new ConnectionLost('there was no answer in its answer', 'unknown'));
        },
        (error: unknown) => {
          if (error instanceof EraChanged) this.sendInOtherEra(id, method, params);
          else this.fail(id, explained(error, this.echoes));
        },
      );
    });
  }

  /** Sends, and resends once in a new session if the server lost ours and so cannot have executed the request. */
  private sendInSession(
    id: number,
    method: string,
    params: JsonObject | undefined,
    options: SendOptions,
  ): Promise<void> {
    // Only Streamable HTTP servers issue session ids and can lose them, or be restarted under a session.
    if (this.wire.kind !== 'http') return this.transmit(id, method, params, options);
    const { modern } = this;
    const { generation } = this.renewal;
    return this.transmit(id, method, params, options).catch(async (error: unknown) => {
      const isLegacyLost = error instanceof SessionExpired;
      if (!isLegacyLost && !isEraRefusal(error, id, modern !== undefined)) throw error;
      if (this.ending) throw error;
      await this.renewal.runFor(id, options, generation, isLegacyLost ? 'legacy' : undefined);
      if (!this.awaits(id)) return;
      if (this.modern !== modern) throw new EraChanged();
      await this.transmit(id, method, params, options);
    });
  }

  private async sendAfterRenewal(
    id: number,
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<void> {
    const { modern } = this;
    await this.renewal.runFor(id, options, this.renewal.generation, undefined);
    if (this.modern !== modern) throw new EraChanged();
    if (this.awaits(id)) await this.sendInSession(id, method, params, options);
  }

  private transmit(
    id: number,
    method: string,
    params: JsonObject | undefined,
    options: SendOptions,
  ): Promise<void> {
    const message = this.requestMessage(id, method, params, options);
    const headers = this.modern?.headersFor(method, message.params, options.inputSchema);
    const carried = options.span?.carried;
    return this.wire.send(
      message,
      carried ? { ...headers, ...carried } : headers,
      options.caller?.principal,
    );
  }

  private sendInOtherEra(id: number, method: string, params: JsonObject | undefined): void {
    const call = this.calls.detach(id);
    if (call) this.translation.repeat(call, method, params);
  }

  private requestMessage(
    id: number,
    method: string,
    params: JsonObject | undefined,
    options: SendOptions,
  ): RpcRequest {
    return requestMessage({ id, method, params }, options, this.modern);
  }

  /** A request that stays open to carry notifications. Resolves when it ends, for any reason. */
  private openStream(
    method: string,
    params: JsonObject,
    opened: (cancel: () => void) => void,
  ): Promise<void> {
    if (this.ending) return Promise.resolve();
    const id = this.calls.nextId();
    const stream = {
      send: () => this.sendInSession(id, method, params, {}),
      endsWhenSent: this.wire.kind === 'http',
      cancel: () => this.cancel(id, 'no longer needed'),
    };
    return this.streams.open(id, stream, opened);
  }

  private receive(incoming: Incoming, during: RpcId | undefined): void {
    switch (incoming.kind) {
      case 'response': {
        const { message } = incoming;
        if ('error' in message) return this.receiveError(message.id, message.error, during);
        return this.receiveResult(message.id, RawJsonObject.of(message.result), during);
      }
      case 'request':
        return this.messages.question(incoming.message, during);
      case 'notification': {
        const { method, params = {} } = incoming.message;
        if (this.ending) return;
        if (method === 'notifications/cancelled') this.endStream(params, during);
        return this.messages.notification(method, params, during);
      }
      case 'invalid': {
        const id =
          incoming.answers === undefined
            ? undefined
            : this.answers.requestOf(incoming.answers, during);
        if (id !== undefined) this.fail(id, new UpstreamProtocolError('a result is no object'));
        return;
      }
      default:
        incoming satisfies never;
    }
  }

  private receiveError(given: RpcId | null, error: RpcErrorBody, during: RpcId | undefined): void {
    const id = given === null ? during : this.answers.requestOf(given, during);
    if (id === undefined) return;
    if (this.awaits(id)) this.wire.reading.noteAnswer();
    this.streams.end(id);
    this.fail(id, new UpstreamRpcError(error));
  }

  /** A server ends one of our streams by cancelling its request. */
  private endStream(params: JsonObject, during: RpcId | undefined): void {
    const id = ownId(params['requestId']);
    if (id !== undefined && (during === undefined || during === id)) this.streams.end(id);
  }

  private receiveResult(id: RpcId, result: RawJsonObject, during: RpcId | undefined): void {
    const own = this.answers.requestOf(id, during);
    if (own === undefined) return;
    if (this.streams.size > 0) this.streams.end(own);
    const call = this.calls.get(own);
    if (!call) return;
    if (this.modern && call.method === 'tools/list') this.modern.noteTools(result.get('tools'));
    this.wire.reading.noteAnswer();
    this.calls.resolve(own, result);
  }

  private guarded(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.logger.error({ err: error }, 'session.handler_failed');
    }
  }

  /** 401 ends the session; 403 may concern only this tool, and must not let its caller end the session of others. */
  private fail(id: RpcId, error: Error): void {
    this.calls.reject(id, error);
    if (error instanceof CredentialsRefused && error.httpStatus === 401) {
      void this.end(error, 'refused', { force: true });
    } else if (error instanceof ConnectionLost && this.wire.kind !== 'stdio') this.verify();
  }

  /** Sends a ping after a broken connection: if the server is gone, the session ends now and not with the next request. */
  private verify(): void {
    if (this.ending || this.verifying) return;
    this.verifying = this.request('ping', undefined, { timeoutMs: PING_WITHIN_MS })
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        this.verifying = undefined;
      });
  }

  /** Drops the answer and sends a cancellation to the server. */
  private cancel(id: RpcId, reason: string): void {
    this.wire.abandon(id);
    // There, closing the response stream is the cancellation.
    if (this.wire.kind === 'http' && this.modern) return;
    const about = changed({ reason }, { requestId: idJson(id) });
    this.notify('notifications/cancelled', about).catch(() => undefined);
  }

  private readonly move = (): void =>
    void this.end(new ConnectionLost(MOVED, 'unknown'), 'moved', { force: true });

  private async end(
    error: AppError,
    cause: SessionEnd['cause'],
    options: CloseOptions,
  ): Promise<void> {
    if (!this.ending) {
      this.ending = error;
      this.options.tenure?.ended.removeEventListener('abort', this.move);
      this.negotiation?.end(error);
      this.modern?.stop();
      this.listShare.close();
      this.calls.rejectAll((call) => this.lossOf(call, error));
      this.streams.endAll();
      this.messages.close();
      this.resolveClosed({ reason: error.message, cause });
    }
    await this.wire.close(options);
  }

  /** Tells each pending call whether the server may have executed it (contract R46). */
  private lossOf({ id }: Call, error: AppError): Error {
    if (!(error instanceof ConnectionLost || error instanceof CredentialsRefused)) return error;
    const waitedMs = this.renewal.waitedMs(id);
    const isSent = waitedMs === undefined && this.wire.mayHaveSent(id);
    if (error instanceof CredentialsRefused && !isSent) return error;
    const reason = error instanceof ConnectionLost ? error.reason : error.message;
    return new ConnectionLost(reason, isSent ? 'unknown' : 'no', error, waitedMs);
  }
}

type SendOptions = Pick<
  RequestOptions,
  'meta' | 'onProgress' | 'caller' | 'renewWithinMs' | 'inputSchema' | 'span'
>;
