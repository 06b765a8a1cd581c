import {
  type ClientLimits,
  type Clock,
  Drain,
  isJsonObject,
  type Tracing,
  UnsentBytes,
} from '@app/platform';
import { MAX_BATCH, mcpHeader, idIn, type Incoming, readMessage, rpcCode } from '@app/mcp-protocol';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectedClient } from '../clients/connected-client.js';
import { StatelessClients } from '../clients/stateless-clients.js';
import { Audiences } from '../stream/audiences.js';
import { isPlainlyLegacy, KnownEnvelopes } from './era.js';
import { ClientResponse } from './client-response.js';
import type { EndReason } from './interruption.js';
import { KeepAlive } from '../stream/keep-alive.js';
import { LegacyWire } from '../legacy/legacy-wire.js';
import { ModernWire } from '../modern/modern-wire.js';
import type { EndpointDependencies } from '../endpoint-dependencies.js';
import type { ClusterView } from '../owners.js';
import { type SessionLimits, SessionStore } from '../legacy/session-store.js';
import { KeptEvents } from '../stream/stream-log.js';
import { SubscriptionBudget } from '../stream/subscriptions.js';
import type { Caller, McpSurface } from '../surface.js';

/** Loaded with the first request that needs the SDK's classification: it takes 5 MB. */
let sdk: typeof import('@modelcontextprotocol/server') | undefined;

export interface HttpPair {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sent with every response: names and values in turn. */
  readonly headers: readonly string[];
}

/** Dependencies that the endpoint shares with the rest of the service; each has a default. */
export interface EndpointSurroundings {
  readonly unsent?: UnsentBytes;
  readonly limits?: ClientLimits;
  readonly drain?: Pick<Drain, 'isDraining'>;
  readonly cluster?: ClusterView;
  readonly tracing?: Tracing;
  readonly onClient?: (change: 'opened' | 'ended', client: ConnectedClient) => void;
}

const DEFAULT_UNSENT = { total: 268_435_456, perConnection: 33_554_432, stallMs: 30_000 };

/**
 * Streamable HTTP for clients of both eras on one URL (contract R32). The wire is our own and not the SDK's
 * because a gateway has to forward results unchanged and unparsed (docs/decisions/0300); the SDK decides to which
 * era a request belongs and how a malformed modern request is refused.
 */
export class McpEndpoint {
  private readonly sessions: SessionStore;
  private readonly stateless: StatelessClients;
  private readonly deps: EndpointDependencies;
  private readonly legacy: LegacyWire;
  private readonly modern: ModernWire;
  private readonly envelopes = new KnownEnvelopes();
  private readonly sweep: NodeJS.Timeout;

  constructor(
    limits: SessionLimits,
    clock: Pick<Clock, 'monotonic' | 'now'>,
    surroundings: EndpointSurroundings = {},
  ) {
    const { unsent = new UnsentBytes(DEFAULT_UNSENT), drain = new Drain() } = surroundings;
    const clientLimits = surroundings.limits;
    const dateAt = (at: number): Date => new Date(clock.now().getTime() - (clock.monotonic() - at));
    const { onClient = () => undefined } = surroundings;
    this.stateless = new StatelessClients(() => clock.monotonic(), onClient, dateAt);
    this.deps = {
      clients: this.stateless,
      unsent,
      drain,
      cluster: surroundings.cluster,
      tracing: surroundings.tracing?.isOn ? surroundings.tracing : undefined,
      limits: clientLimits,
      keepAlive: new KeepAlive(),
      kept: new KeptEvents(clock, unsent),
      audiences: new Audiences(unsent, clientLimits),
      subscriptions: new SubscriptionBudget(clientLimits),
    };
    this.sessions = new SessionStore(limits, clock, clientLimits, onClient, dateAt);
    this.legacy = new LegacyWire(this.sessions, this.deps);
    this.modern = new ModernWire(clock, this.deps);
    const every = Math.min(60_000, Math.ceil(limits.idleMs / 2));
    this.sweep = setInterval(() => {
      this.sessions.expire();
      const activities = this.modern.activities();
      this.stateless.expire((key) => activities.has(key));
      this.deps.kept.trimAll();
    }, every).unref();
  }

  get sessionCount(): number {
    return this.sessions.size;
  }

  /** Sessions, and clients without one that sent a request lately. */
  get clients(): readonly ConnectedClient[] {
    const activities = this.modern.activities();
    return [...this.sessions.list(), ...this.stateless.list((key) => activities.get(key))];
  }

  /** By the id in `clients`; false if there is none. A legacy client has to begin a new session. */
  endClient(id: string): boolean {
    if (this.sessions.removePublic(id, 'An administrator ended the session')) return true;
    const key = this.stateless.find(id);
    if (key === undefined) return false;
    this.modern.endClient(key, 'An administrator ended the session');
    this.stateless.forget(key);
    return true;
  }

  /** `body` is the parsed body of a POST, undefined when it could not be parsed. Always responds, never throws. */
  handle(view: McpSurface, http: HttpPair, body: unknown, caller: Caller): void | Promise<void> {
    const { headers, method } = http.request;
    const response = new ClientResponse(http.response, http.headers, caller.name, this.deps);
    switch (method) {
      case 'POST':
        return this.post(view, http.request, body, response, caller);
      case 'GET':
        return this.legacy.get(view, headers, response, caller);
      case 'DELETE':
        return this.legacy.delete(view, headers, response, caller);
      default:
        return response.refuse(405, { code: rpcCode.serverError, message: 'Method not allowed' });
    }
  }

  /** Requests in flight. */
  get runningCalls(): number {
    return this.sessions.runningCalls + this.modern.runningCalls;
  }

  /** Open responses that end only with their client or the service. */
  get standingStreams(): number {
    return this.sessions.standingStreams + this.modern.listeners;
  }

  /** Ends every request in flight with an error that gives the reason. */
  interruptCalls(reason: EndReason = 'The service is stopping'): void {
    this.sessions.interruptCalls(reason);
    this.modern.interruptCalls(reason);
  }

  /** Ends the sessions and streams of these subjects, whose tokens are no longer valid. */
  endSessionsOf(subjects: readonly string[]): void {
    for (const subject of subjects) {
      this.sessions.removeOf(subject, 'The token was withdrawn');
      this.modern.endOf(subject, 'The token was withdrawn');
    }
  }

  /** Ends the sessions and streams of callers that may not use their surface any more. */
  endUnadmitted(): void {
    this.sessions.removeUnadmitted('The access was withdrawn');
    this.modern.endUnadmitted('The access was withdrawn');
  }

  close(): void {
    clearInterval(this.sweep);
    this.interruptCalls();
    this.modern.close();
    this.sessions.closeAll('The service is stopping');
    this.deps.keepAlive.close();
  }

  private post(
    view: McpSurface,
    { headers }: Pick<IncomingMessage, 'headers'>,
    body: unknown,
    response: ClientResponse,
    caller: Caller,
  ): void | Promise<void> {
    if (body === undefined) {
      return response.refuse(400, { code: rpcCode.parseError, message: 'Parse error' });
    }
    if (Array.isArray(body) && body.length > MAX_BATCH) {
      this.deps.limits?.note('batch_messages', caller.name);
      const message = `A batch may have at most ${MAX_BATCH} messages; this one has ${body.length}`;
      return response.refuse(400, { code: rpcCode.invalidRequest, message });
    }
    if (isPlainlyLegacy(body, headers[mcpHeader.protocolVersion])) {
      const messages = (Array.isArray(body) ? body : [body]).map((one: unknown) =>
        readMessage(one),
      );
      if (messages.length > 0 && messages.every(({ kind }) => kind !== 'invalid')) {
        return this.legacy.post(view, messages, headers, response, caller);
      }
    }
    const known = this.envelopes.modernRequestIn(body, headers);
    if (known) {
      const { request, version } = known;
      return this.modern.handle(view, request, version, headers, response, caller);
    }
    if (!sdk) {
      return import('@modelcontextprotocol/server').then((loaded) => {
        sdk = loaded;
        return this.post(view, { headers }, body, response, caller);
      });
    }
    const era = sdk.classifyInboundRequest({
      httpMethod: 'POST',
      body,
      ...text('protocolVersionHeader', headers[mcpHeader.protocolVersion]),
      ...text('mcpMethodHeader', headers[mcpHeader.method]),
      ...text('mcpNameHeader', headers[mcpHeader.name]),
    });
    const id = (isJsonObject(body) ? idIn(body, 'id') : undefined) ?? null;
    switch (era.kind) {
      case 'reject': {
        const { code, message, data } = era;
        const error = { code, message, ...(isJsonObject(data) && { data }) };
        return response.refuse(era.httpStatus, error, id);
      }
      case 'modern': {
        const incoming: Incoming = readMessage(body);
        if (incoming.kind !== 'request') return response.accept();
        this.envelopes.remember(incoming.message, caller.name);
        const version = era.classification.revision;
        return this.modern.handle(view, incoming.message, version, headers, response, caller);
      }
      case 'legacy': {
        const messages = [readMessage(body)];
        return this.legacy.post(view, messages, headers, response, caller);
      }
      default:
        return era satisfies never;
    }
  }
}

function text<K extends string>(
  key: K,
  value: string | string[] | undefined,
): { readonly [P in K]?: string } | undefined {
  return typeof value === 'string' ? ({ [key]: value } as { [P in K]: string }) : undefined;
}
