import {
  type CloseOptions,
  ConnectionLost,
  CredentialsRefused,
  type ListKind,
  type ListLimits,
  type NotificationHandler,
  RequestCancelled,
  type RequestOptions,
  RequestTimedOut,
  type RootsProvider,
  type SessionEnd,
  UpstreamHttpError,
  type UpstreamSession,
} from '@app/mcp-client';
import {
  LOG_LEVEL_META_KEY,
  type LogLevel,
  type Provenance,
  UpstreamRpcError,
} from '@app/mcp-protocol';
import type { JsonObject, Pulse, RawJsonObject } from '@app/platform';
import { randomUUID } from 'node:crypto';
import {
  callerMeta,
  failureIn,
  LEVEL_WISH,
  levelWish,
  stopIn,
  tellingRefusals,
} from './passed-request.js';

const STOPPING = 'the replica that has its session takes no more requests';
const NO_ANSWER = 'no answer came from the replica that has its session';
const NOT_REACHED = 'the replica that has its session does not answer';
/** How long requests may take that were sent before. */
const LAST_ANSWERS_MS = 30_000;
/** How long those to a replica that is gone. */
const GONE_ANSWERS_MS = 1_000;

const clientIds = new WeakMap<object, string>();

/** What is known of the other replica. */
export interface PeerLiveness {
  /** It has answered just now. */
  isAwake(): boolean;
  waitUntilAwake(withinMs: number, signal: AbortSignal): Promise<Pulse>;
  /** It has answered. */
  heard(): void;
}

/** The session to a server that another replica has, over the MCP endpoint that replicas have for each other. */
export class PassedSession implements UpstreamSession {
  constructor(
    private readonly inner: UpstreamSession,
    /** The replica that has the session to the server. */
    readonly replicaId: string,
    private readonly self: string,
    private readonly peer: PeerLiveness,
  ) {
    const ended = inner.closed.then(ofReplica);
    this.closed = Promise.race([ended, new Promise<SessionEnd>((end) => (this.end = end))]);
    void this.closed.then(() => this.left.abort());
  }

  /** Also when that replica takes no more requests, while those that it has taken end. */
  readonly closed: Promise<SessionEnd>;
  private end: (end: SessionEnd) => void = () => undefined;
  private hasLeft = false;
  /** Aborted when no request can be sent any more. */
  private readonly left = new AbortController();

  get era(): UpstreamSession['era'] {
    return this.inner.era;
  }
  get protocolVersion(): string {
    return this.inner.protocolVersion;
  }
  get serverInfo(): JsonObject {
    return this.inner.serverInfo;
  }
  get capabilities(): JsonObject {
    return this.inner.capabilities;
  }
  get instructions(): string | undefined {
    return this.inner.instructions;
  }
  get address(): URL | undefined {
    return this.inner.address;
  }
  get provenance(): Provenance {
    return this.inner.provenance;
  }
  get pending(): number {
    return this.inner.pending;
  }
  get verified(): Promise<void> {
    return this.inner.verified;
  }
  get user(): string | null | undefined {
    return this.inner.user;
  }

  async request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<JsonObject> {
    return (await this.requestBytes(method, params, options)).toObject();
  }

  async requestBytes(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<RawJsonObject> {
    const heldMs = this.peer.isAwake() ? 0 : await this.held(options);
    const { caller, meta, onServerRequest, timeoutMs } = options;
    const client = caller && {
      name: caller.principal,
      client: clientIdOf(caller.client),
      answers: onServerRequest !== undefined,
      replica: this.self,
      call: randomUUID(),
    };
    try {
      const result = await this.inner.requestBytes(method, params, {
        ...options,
        timeoutMs: timeoutMs - heldMs,
        meta: {
          ...meta,
          // Filtered here, where the level of the client is known.
          [LOG_LEVEL_META_KEY]: 'debug',
          ...callerMeta(client),
        },
        // The call waits for its user here, not at the replica that has the session.
        allowInputRequired: false,
        onServerRequest: onServerRequest && tellingRefusals(onServerRequest),
      });
      this.peer.heard();
      return result;
    } catch (error) {
      if (error instanceof UpstreamRpcError) this.peer.heard();
      // A call that waits for its user has no exchange whose end would cancel it there.
      if (client?.answers) this.giveUp(client.call);
      throw this.explained(error, heldMs);
    } finally {
      this.closeWhenIdle();
    }
  }

  /**
   * The most verbose log level that clients of this replica request, if any does: stateless MCP has levels of requests
   * only, and the server may say something outside of them.
   */
  wantLevel(level: LogLevel | undefined): Promise<void> {
    return this.inner.notify(LEVEL_WISH, levelWish(this.self, level));
  }
  notify(method: string, params?: JsonObject): Promise<void> {
    return this.inner.notify(method, params);
  }
  onNotification(handler: NotificationHandler): () => void {
    return this.inner.onNotification(handler);
  }
  setRootsProvider(provider: RootsProvider): void {
    this.inner.setRootsProvider(provider);
  }
  onRenewal(handler: () => void): void {
    this.inner.onRenewal(handler);
  }
  async listAll(kind: ListKind, limits: ListLimits): Promise<JsonObject[]> {
    try {
      return await this.inner.listAll(kind, limits);
    } catch (error) {
      throw this.explained(error);
    }
  }
  logs(): readonly string[] {
    return [];
  }
  close(options?: CloseOptions): Promise<void> {
    return this.inner.close(options);
  }

  /** The next request goes to the replica that has the server then; those that are pending end here. */
  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.end({ reason: STOPPING, cause: 'moved' });
    setTimeout(() => void this.inner.close({ force: true }), LAST_ANSWERS_MS).unref();
    this.closeWhenIdle();
  }

  /** The replica is gone; one that has left still answers what is on its way. */
  abandon(): void {
    this.leave();
    setTimeout(() => void this.inner.close({ force: true }), GONE_ANSWERS_MS).unref();
  }

  /**
   * Keeps a request back while the replica does not answer: sent to one that stands still it would have an unknown
   * outcome, and so it can be sent to the next one.
   */
  private async held({
    signal,
    timeoutMs,
    renewWithinMs = timeoutMs,
  }: RequestOptions): Promise<number> {
    const startedAt = performance.now();
    const stop = new AbortController();
    const stopped = new Promise<'silent'>((resolve) => {
      stop.signal.addEventListener('abort', () => resolve('silent'), { once: true });
    });
    const end = (): void => stop.abort();
    signal?.addEventListener('abort', end);
    this.left.signal.addEventListener('abort', end);
    if (signal?.aborted || this.left.signal.aborted) end();
    const awake = this.peer.waitUntilAwake(Math.min(timeoutMs, renewWithinMs), stop.signal);
    const pulse = await Promise.race([awake, stopped]);
    signal?.removeEventListener('abort', end);
    this.left.signal.removeEventListener('abort', end);
    end();
    if (signal?.aborted) throw new RequestCancelled();
    const heldMs = performance.now() - startedAt;
    if (pulse === 'refuses') this.leave();
    if (pulse !== 'answers') throw new ConnectionLost(NOT_REACHED, 'no', undefined, heldMs);
    if (heldMs >= timeoutMs) throw new RequestTimedOut('the request', timeoutMs, 'no');
    return heldMs;
  }

  private giveUp(call: string): void {
    this.inner.notify('notifications/cancelled', { requestId: call }).catch(() => undefined);
  }

  private explained(error: unknown, heldMs = 0): unknown {
    if (error instanceof UpstreamRpcError) {
      const stopped = stopIn(error.rpc);
      if (stopped === 'not executed') return this.refused(error, heldMs);
      if (stopped === 'unknown') return new ConnectionLost(STOPPING, 'unknown', error);
      return failureIn(error.rpc) ?? error;
    }
    if (error instanceof CredentialsRefused) return this.refused(error, heldMs);
    if (!(error instanceof UpstreamHttpError)) return error;
    // It leads no longer, has been restarted, or has another key: it did not look at the request.
    if (isRefusal(error)) return this.refused(error, heldMs);
    // Of a proxy before it, which may have sent the request.
    this.leave();
    return new ConnectionLost(NO_ANSWER, 'unknown', error);
  }

  private refused(error: unknown, heldMs: number): ConnectionLost {
    this.leave();
    return new ConnectionLost(STOPPING, 'no', error, heldMs);
  }

  private closeWhenIdle(): void {
    if (this.hasLeft && this.inner.pending === 0) void this.inner.close({ force: true });
  }
}

const REFUSALS = new Set([401, 403, 404, 409, 413, 429]);

/** The answer of a replica that did not begin with the request. */
function isRefusal({ httpStatus, body }: UpstreamHttpError): boolean {
  return REFUSALS.has(httpStatus) || (httpStatus === 503 && body.includes('"error_code"'));
}

/** That a replica was not reached any more is no news about the server. */
function ofReplica(end: SessionEnd): SessionEnd {
  return end.cause === 'lost' ? { ...end, cause: 'moved' } : end;
}

function clientIdOf(client: object): string {
  let id = clientIds.get(client);
  if (id === undefined) clientIds.set(client, (id = randomUUID()));
  return id;
}
