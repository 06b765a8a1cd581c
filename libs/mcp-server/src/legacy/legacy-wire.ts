import { isJsonObject, type JsonObject } from '@app/platform';
import {
  mcpHeader,
  idIn,
  type Incoming,
  LEGACY_VERSIONS,
  rpcCode,
  type RpcRequest,
} from '@app/mcp-protocol';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { clientInfoOf } from '../clients/connected-client.js';
import { beginRequest, failedIn } from '../endpoint/request-span.js';
import { refuseToBegin, refuseUnknownSession } from '../endpoint/interruption.js';
import type { ClientResponse } from '../endpoint/client-response.js';
import { LegacySession } from './legacy-session.js';
import type { EndpointDependencies } from '../endpoint-dependencies.js';
import type { SessionStore } from './session-store.js';
import type { Caller, McpSurface } from '../surface.js';

const [newest] = LEGACY_VERSIONS;

/** Streamable HTTP up to revision 2025-11-25: a handshake opens a session. */
export class LegacyWire {
  constructor(
    private readonly sessions: SessionStore,
    private readonly deps: EndpointDependencies,
  ) {}

  post(
    view: McpSurface,
    messages: readonly Incoming[],
    headers: IncomingHttpHeaders,
    response: ClientResponse,
    caller: Caller,
  ): void | Promise<void> {
    const [first] = messages;
    const only = messages.length === 1 && first?.kind === 'request' ? first.message : undefined;
    if (this.deps.drain.isDraining && messages.some(({ kind }) => kind === 'request')) {
      return this.refuseWhileDraining(first, response);
    }
    if (only?.method === 'initialize') return this.initialize(view, only, response, caller);
    const session = this.sessionOf(view, headers, response, caller);
    if (!session) return;
    response.recordWith((stream) => session.record(stream));
    if (only) return this.answer(session, only, response);
    const requests: RpcRequest[] = [];
    for (const incoming of messages) {
      if (incoming.kind === 'request') requests.push(incoming.message);
      else receive(session, incoming);
    }
    if (requests.length === 0) return response.accept();
    return this.answerAll(session, requests, response);
  }

  /** A client whose session is not found begins another one, at a replica that stays. */
  private refuseWhileDraining(first: Incoming | undefined, response: ClientResponse): void {
    const request = first?.kind === 'request' ? first.message : undefined;
    const isInSession = request?.method !== 'initialize';
    if (isInSession && this.deps.cluster?.hasOthers) return refuseUnknownSession(response);
    refuseToBegin(response, request?.id ?? null);
  }

  /** Opens a standing stream of a session, or resumes an interrupted stream. */
  get(
    view: McpSurface,
    headers: IncomingHttpHeaders,
    response: ClientResponse,
    caller: Caller,
  ): void {
    const session = this.sessionOf(view, headers, response, caller);
    if (!session) return;
    const seen = headers[mcpHeader.lastEventId];
    if (this.deps.drain.isDraining && seen === undefined) return refuseToBegin(response);
    const stream = response.openStream();
    if (typeof seen === 'string' && session.resume(seen, stream)) return;
    const leave = session.stand(stream);
    response.onClientGone(() => {
      leave();
      this.sessions.touch(session);
    });
  }

  delete(
    view: McpSurface,
    headers: IncomingHttpHeaders,
    response: ClientResponse,
    caller: Caller,
  ): void {
    const session = this.sessionOf(view, headers, response, caller);
    if (!session) return;
    this.sessions.remove(session);
    response.end();
  }

  private async initialize(
    view: McpSurface,
    request: RpcRequest,
    response: ClientResponse,
    caller: Caller,
  ): Promise<void> {
    const { protocolVersion: requested, capabilities: given, clientInfo } = request.params ?? {};
    const version =
      typeof requested === 'string' && LEGACY_VERSIONS.includes(requested) ? requested : newest;
    const capabilities = isJsonObject(given) ? given : {};
    const client = { era: 'legacy', caller, capabilities, version, logLevel: undefined } as const;
    const { tracing } = this.deps;
    const span = tracing && beginRequest(tracing, request, client, response.requestHeaders);
    try {
      await view.ready();
    } catch (error) {
      return response.refuse(200, failedIn(span, error, view).body, request.id);
    }
    const info = clientInfoOf(clientInfo);
    const session = new LegacySession(view, caller, capabilities, this.deps, version, info);
    this.sessions.add(session);
    const { capabilities: offered, instructions, meta } = view.describe();
    const result: JsonObject = {
      protocolVersion: version,
      capabilities: offered,
      serverInfo: view.serverInfo,
      ...(instructions !== undefined && { instructions }),
      ...(meta && { _meta: meta }),
    };
    response.finish({ jsonrpc: '2.0', id: request.id, result }, [mcpHeader.sessionId, session.id]);
    span?.end();
  }

  private sessionOf(
    view: McpSurface,
    headers: IncomingHttpHeaders,
    response: ClientResponse,
    caller: Caller,
  ): LegacySession | undefined {
    const version = headers[mcpHeader.protocolVersion];
    if (typeof version === 'string' && !LEGACY_VERSIONS.includes(version)) {
      response.refuse(400, {
        code: rpcCode.serverError,
        message: `Unsupported protocol version: ${version}`,
      });
      return undefined;
    }
    const id = headers[mcpHeader.sessionId];
    if (typeof id !== 'string') {
      response.refuse(400, {
        code: rpcCode.serverError,
        message: 'Bad Request: Mcp-Session-Id header is required',
      });
      return undefined;
    }
    const session = this.sessions.find(id, view, caller);
    if (!session) refuseUnknownSession(response);
    return session;
  }

  private answer(
    session: LegacySession,
    request: RpcRequest,
    response: ClientResponse,
  ): Promise<void> {
    return session.handle(request, response).then(() => this.sessions.touch(session));
  }

  /**
   * Requests of a batch (revision 2025-03-26) are answered one by one on a stream. Between two of them it yields
   * to the event loop, and the next one starts when the client has read the answers so far.
   */
  private async answerAll(
    session: LegacySession,
    requests: readonly RpcRequest[],
    response: ClientResponse,
  ): Promise<void> {
    response.expect(requests.length);
    for (const request of requests) {
      void this.answer(session, request, response);
      await setImmediate();
      await response.caughtUp();
    }
  }
}

/** Takes a notification, or a response to a request of the service. Invalid messages are ignored. */
function receive(session: LegacySession, incoming: Incoming): void {
  if (incoming.kind === 'response') session.settle(incoming.message);
  if (incoming.kind !== 'notification') return;
  const { method, params } = incoming.message;
  if (method === 'notifications/roots/list_changed') return session.announceRoots();
  if (method !== 'notifications/cancelled') return;
  const id = params && idIn(params, 'requestId');
  if (id !== undefined) session.cancel(id);
}
