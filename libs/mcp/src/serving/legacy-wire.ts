import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '@app/platform';
import { LEGACY_VERSIONS } from '../protocol.js';
import { rpcErrorOf } from './answer.js';
import type { HttpExchange } from './http-exchange.js';
import { LegacySession } from './legacy-session.js';
import { type Incoming, rpcCode, type RpcRequest } from './rpc.js';
import type { SessionStore } from './session-store.js';
import type { KeptEvents } from './stream-log.js';
import type { Caller, McpView } from './view.js';

const [newest] = LEGACY_VERSIONS;

/** Streamable HTTP up to revision 2025-11-25: a handshake, then a session. */
export class LegacyWire {
  constructor(
    private readonly sessions: SessionStore,
    private readonly kept: KeptEvents,
  ) {}

  post(
    view: McpView,
    messages: readonly Incoming[],
    headers: IncomingHttpHeaders,
    exchange: HttpExchange,
    caller: Caller,
  ): void | Promise<void> {
    const [first] = messages;
    const only = messages.length === 1 && first?.kind === 'request' ? first.message : undefined;
    if (only?.method === 'initialize') return this.initialize(view, only, exchange, caller);
    const session = this.sessionOf(view, headers, exchange, caller);
    if (!session) return;
    exchange.recordWith((stream) => session.record(stream));
    if (only) return this.answer(session, only, exchange);
    const requests: RpcRequest[] = [];
    for (const { kind, message } of messages.filter((m) => m.kind !== 'invalid')) {
      if (kind === 'request') requests.push(message);
      else if (kind === 'response') session.settle(message);
      else if (message.method === 'notifications/cancelled') {
        const id = message.params?.['requestId'];
        if (typeof id === 'string' || typeof id === 'number') session.cancel(id);
      } else if (message.method === 'notifications/roots/list_changed') session.announceRoots();
    }
    if (requests.length === 0) return exchange.accept();
    return this.answerAll(session, requests, exchange);
  }

  /** The standing stream of a session, or the rest of one that was lost. */
  get(view: McpView, headers: IncomingHttpHeaders, exchange: HttpExchange, caller: Caller): void {
    const session = this.sessionOf(view, headers, exchange, caller);
    if (!session) return;
    const seen = headers['last-event-id'];
    const stream = exchange.openStream();
    if (typeof seen === 'string' && session.resume(seen, stream)) return;
    const leave = session.stand(stream);
    exchange.onClientGone(() => {
      leave();
      this.sessions.touch(session);
    });
  }

  delete(
    view: McpView,
    headers: IncomingHttpHeaders,
    exchange: HttpExchange,
    caller: Caller,
  ): void {
    const session = this.sessionOf(view, headers, exchange, caller);
    if (!session) return;
    this.sessions.remove(session);
    exchange.end();
  }

  private async initialize(
    view: McpView,
    request: RpcRequest,
    exchange: HttpExchange,
    caller: Caller,
  ): Promise<void> {
    try {
      await view.ready();
    } catch (error) {
      return exchange.refuse(200, rpcErrorOf(error).body, request.id);
    }
    const requested = request.params?.['protocolVersion'];
    const capabilities = request.params?.['capabilities'];
    const session = new LegacySession(
      view,
      caller,
      isJsonObject(capabilities) ? capabilities : {},
      this.kept,
    );
    this.sessions.add(session);
    const { capabilities: offered, instructions } = view.describe();
    const result: JsonObject = {
      protocolVersion:
        typeof requested === 'string' && LEGACY_VERSIONS.includes(requested) ? requested : newest,
      capabilities: offered,
      serverInfo: view.serverInfo,
      ...(instructions !== undefined && { instructions }),
    };
    exchange.finish({ jsonrpc: '2.0', id: request.id, result }, ['mcp-session-id', session.id]);
  }

  private sessionOf(
    view: McpView,
    headers: IncomingHttpHeaders,
    exchange: HttpExchange,
    caller: Caller,
  ): LegacySession | undefined {
    const version = headers['mcp-protocol-version'];
    if (typeof version === 'string' && !LEGACY_VERSIONS.includes(version)) {
      exchange.refuse(400, {
        code: rpcCode.serverError,
        message: `Unsupported protocol version: ${version}`,
      });
      return undefined;
    }
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') {
      exchange.refuse(400, {
        code: rpcCode.serverError,
        message: 'Bad Request: Mcp-Session-Id header is required',
      });
      return undefined;
    }
    const session = this.sessions.find(id, view, caller);
    if (!session)
      exchange.refuse(404, { code: rpcCode.sessionNotFound, message: 'Session not found' });
    return session;
  }

  private answer(
    session: LegacySession,
    request: RpcRequest,
    exchange: HttpExchange,
  ): Promise<void> {
    return session.answer(request, exchange).then((answer) => {
      this.sessions.touch(session);
      if (answer) exchange.finish(answer);
      else exchange.end();
    });
  }

  /** Several requests in one body (revision 2025-03-26) are answered one by one on a stream. */
  private async answerAll(
    session: LegacySession,
    requests: readonly RpcRequest[],
    exchange: HttpExchange,
  ): Promise<void> {
    let left = requests.length;
    await Promise.all(
      requests.map(async (request) => {
        const answer = await session.answer(request, exchange);
        this.sessions.touch(session);
        left -= 1;
        if (!answer) {
          if (left === 0) exchange.end();
        } else if (left === 0) exchange.finish(answer);
        else exchange.send(answer);
      }),
    );
  }
}
