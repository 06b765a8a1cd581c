import { ClientLimits, Drain, type JsonValue, UnsentBytes } from '@app/platform';
import { McpEndpoint } from './endpoint/mcp-endpoint.js';
import { FakeExchange } from './fake-exchange.js';
import { FakeView } from './fake-view.js';
import type { ClusterView } from './owners.js';
import type { Caller, McpSurface } from './surface.js';

type Headers = Readonly<Record<string, string>>;

const revision = '2026-07-28';

/** The limits that clients reached, with their principals. */
export class NotedLimits extends ClientLimits {
  readonly noted: string[] = [];

  constructor() {
    super({ inc: () => undefined } as never);
  }

  override note(...[limit, principal]: Parameters<ClientLimits['note']>): void {
    this.noted.push(`${limit} ${principal}`);
  }
}

/** An endpoint without a network: each request is an exchange in memory. */
export class FakeEndpoint {
  /** The time of its clock, in milliseconds. */
  now = 1_000_000;
  readonly drain = new Drain();
  readonly limits = new NotedLimits();
  readonly unsent = new UnsentBytes({ total: 2 ** 26, perConnection: 2 ** 26, stallMs: 600_000 });
  readonly endpoint: McpEndpoint;

  constructor(
    readonly view: McpSurface = new FakeView(),
    settings: { max?: number; idleMs?: number; cluster?: ClusterView } = {},
  ) {
    const { max = 100, idleMs = 60_000, cluster } = settings;
    const clock = { monotonic: () => this.now, now: () => new Date(this.now) };
    const { drain, limits, unsent } = this;
    this.endpoint = new McpEndpoint({ max, idleMs }, clock, {
      drain,
      limits,
      unsent,
      ...(cluster && { cluster }),
    });
  }

  /** Has the SDK loaded, which an endpoint does with the first request that needs it. */
  async load(): Promise<void> {
    const { request, response } = new FakeExchange();
    const body = rpc('none', { _meta: { 'io.modelcontextprotocol/protocolVersion': revision } });
    await this.endpoint.handle(this.view, { request, response, headers: [] }, body, {
      name: 'loader',
      subject: 'loader',
      ip: null,
    });
  }

  /** Begins an exchange, without waiting for an answer. */
  begin(
    method: string,
    body: unknown,
    headers: Headers = {},
    {
      caller = 'alice',
      view = this.view,
      more = {},
    }: { caller?: string; view?: McpSurface; more?: Partial<Caller> } = {},
  ): FakeExchange {
    const exchange = new FakeExchange(method, headers);
    const { request, response } = exchange;
    void this.endpoint.handle(view, { request, response, headers: [] }, body, {
      name: caller,
      subject: caller,
      ip: null,
      ...more,
    });
    return exchange;
  }

  post(body: unknown, headers: Headers = {}, caller = 'alice'): Promise<FakeExchange> {
    return this.begin('POST', body, headers, { caller }).settled();
  }

  /** Opens a session; returns the headers that its requests need. */
  async open(capabilities: JsonValue = {}, caller = 'alice'): Promise<Record<string, string>> {
    const params = { protocolVersion: '2025-06-18', capabilities, clientInfo: {} };
    const answer = await this.post(rpc('initialize', params), {}, caller);
    return { 'mcp-session-id': String(answer.headers['mcp-session-id']) };
  }

  /** Opens the stream of a session. */
  listen(session: Headers, seen?: string): Promise<FakeExchange> {
    const headers = { ...session, ...(seen !== undefined && { 'last-event-id': seen }) };
    return this.begin('GET', undefined, headers).settled();
  }

  /** A request of the stateless era. */
  beginModern(
    method: string,
    params: Record<string, unknown> = {},
    { caller = 'alice', id = 1 as number | string, capabilities = {}, headers = {} } = {},
  ): FakeExchange {
    const subject = params['name'] ?? params['uri'];
    const meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'someone', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const body = rpc(method, { ...params, _meta: meta }, id);
    const sent = {
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(typeof subject === 'string' && { 'mcp-name': subject }),
      ...headers,
    };
    return this.begin('POST', body, sent, { caller });
  }

  close(): void {
    this.endpoint.close();
    this.unsent.close();
  }
}

export function rpc(method: string, params: unknown = {}, id: number | string = 1): object {
  return { jsonrpc: '2.0', id, method, params };
}

export function notification(method: string, params: unknown = {}): object {
  return { jsonrpc: '2.0', method, params };
}
