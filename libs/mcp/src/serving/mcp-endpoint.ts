import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, isJsonObject, type JsonValue } from '@app/platform';
import { isPlainlyLegacy, KnownEnvelopes } from './era.js';
import { HttpExchange } from './http-exchange.js';
import { LegacyWire } from './legacy-wire.js';
import { ModernWire } from './modern-wire.js';
import { type Incoming, readMessage, rpcCode } from './rpc.js';
import { type SessionLimits, SessionStore } from './session-store.js';
import { KeptEvents } from './stream-log.js';
import type { Caller, McpView } from './view.js';

/** Loaded with the first request that is not plainly one of a session: it brings 5 MB. */
let sdk: typeof import('@modelcontextprotocol/server') | undefined;

export interface HttpPair {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** For every answer, whatever it will be: names and values in turn. */
  readonly headers: readonly string[];
}

/**
 * Streamable HTTP for clients of both eras on one URL (RULINGS R32). The wire is ours and not the SDK's
 * because a gateway has to pass results on unchanged and unparsed (docs/decisions/0300); which era a
 * request belongs to, and how a malformed modern one is refused, is decided by the SDK.
 */
export class McpEndpoint {
  private readonly sessions: SessionStore;
  private readonly kept: KeptEvents;
  private readonly legacy: LegacyWire;
  private readonly modern: ModernWire;
  private readonly envelopes = new KnownEnvelopes();
  private readonly sweep: NodeJS.Timeout;

  constructor(limits: SessionLimits, clock: Pick<Clock, 'now'>) {
    this.sessions = new SessionStore(limits, clock);
    this.kept = new KeptEvents(clock);
    this.legacy = new LegacyWire(this.sessions, this.kept);
    this.modern = new ModernWire(clock);
    const every = Math.min(60_000, Math.ceil(limits.idleMs / 2));
    this.sweep = setInterval(() => {
      this.sessions.expire();
      this.kept.trim();
    }, every).unref();
  }

  get sessionCount(): number {
    return this.sessions.size;
  }

  /** `body` is the parsed body of a POST, undefined when it could not be read. Always answers, never throws. */
  handle(view: McpView, http: HttpPair, body: unknown, caller: Caller): void | Promise<void> {
    const { headers, method } = http.request;
    const exchange = new HttpExchange(http.response, http.headers);
    switch (method) {
      case 'POST':
        return this.post(view, http.request, body, exchange, caller);
      case 'GET':
        return this.legacy.get(view, headers, exchange, caller);
      case 'DELETE':
        return this.legacy.delete(view, headers, exchange, caller);
      default:
        return exchange.refuse(405, { code: rpcCode.serverError, message: 'Method not allowed' });
    }
  }

  close(): void {
    clearInterval(this.sweep);
    this.modern.close();
    this.sessions.closeAll();
  }

  private post(
    view: McpView,
    { headers }: Pick<IncomingMessage, 'headers'>,
    body: unknown,
    exchange: HttpExchange,
    caller: Caller,
  ): void | Promise<void> {
    if (body === undefined) {
      return exchange.refuse(400, { code: rpcCode.parseError, message: 'Parse error' });
    }
    if (isPlainlyLegacy(body, headers['mcp-protocol-version'])) {
      const messages = Array.isArray(body) ? body.map(readMessage) : [readMessage(body)];
      if (messages.length > 0 && messages.every(({ kind }) => kind !== 'invalid')) {
        return this.legacy.post(view, messages, headers, exchange, caller);
      }
    }
    const known = this.envelopes.modernRequestIn(body, headers);
    if (known) {
      const { request, version } = known;
      return this.modern.serve(view, request, version, headers, exchange, caller);
    }
    if (!sdk) {
      return import('@modelcontextprotocol/server').then((loaded) => {
        sdk = loaded;
        return this.post(view, { headers }, body, exchange, caller);
      });
    }
    const era = sdk.classifyInboundRequest({
      httpMethod: 'POST',
      body,
      ...text('protocolVersionHeader', headers['mcp-protocol-version']),
      ...text('mcpMethodHeader', headers['mcp-method']),
      ...text('mcpNameHeader', headers['mcp-name']),
    });
    const id = isJsonObject(body) && isId(body['id']) ? body['id'] : null;
    switch (era.kind) {
      case 'reject': {
        const { code, message, data } = era;
        const error = { code, message, ...(isJsonObject(data) && { data }) };
        return exchange.refuse(era.httpStatus, error, id);
      }
      case 'modern': {
        const incoming: Incoming = readMessage(body);
        if (incoming.kind !== 'request') return exchange.accept();
        this.envelopes.remember(incoming.message);
        const version = era.classification.revision;
        return this.modern.serve(view, incoming.message, version, headers, exchange, caller);
      }
      case 'legacy': {
        const messages = [readMessage(body)];
        return this.legacy.post(view, messages, headers, exchange, caller);
      }
      default:
        return era satisfies never;
    }
  }
}

function isId(value: JsonValue | undefined): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function text<K extends string>(
  key: K,
  value: string | string[] | undefined,
): { readonly [P in K]?: string } | undefined {
  return typeof value === 'string' ? ({ [key]: value } as { [P in K]: string }) : undefined;
}
