import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';

/** What a caller is told: the words of the outcome, and the status of the server where the entry names it. */
interface Told {
  readonly outcome: string;
  readonly status?: unknown;
}

type Entry = (service: TestApp, server: string, tool: string) => Promise<Told>;

const MODERN = '2026-07-28';

async function post(service: TestApp, path: string, body: object, headers = {}): Promise<unknown> {
  const { url, token } = service;
  const accept = 'application/json, text/event-stream';
  const answer = await send(url, path, {
    method: 'POST',
    token,
    headers: { accept, ...headers },
    body: JSON.stringify(body),
  });
  const [, event] = /^data: (.+)$/m.exec(answer.text) ?? [];
  return event === undefined ? answer.body : (JSON.parse(event) as unknown);
}

/** By the sentence in the result of the tool. */
function toldIn(answer: unknown): Told {
  const { result } = answer as { result: { isError: boolean; content: [{ text: string }] } };
  expect(result.isError).toBe(true);
  const [{ text }] = result.content;
  if (text.includes('a repeated call may execute it twice')) return { outcome: 'unknown' };
  return { outcome: text.includes('The tool was not executed.') ? 'not executed' : text };
}

const entries: Record<string, Entry> = {
  REST: async (service, server, tool) => {
    const call = { name: `${server}.${tool}`, arguments: { query: 'x' } };
    const answer = (await post(service, '/api/v1/tools/call', call)) as {
      context: { tool: string; outcome: string };
      server: { status: string };
    };
    expect(answer).toMatchObject({
      error_code: 'SERVER_UNAVAILABLE',
      context: { tool: call.name },
    });
    return { outcome: answer.context.outcome, status: answer.server.status };
  },
  'MCP with a session': async (service, server, tool) => {
    const clientInfo = { name: 'test', version: '1' };
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const { url, token } = service;
    const opened = await send(url, '/mcp', {
      method: 'POST',
      token,
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }),
    });
    const session = { 'mcp-session-id': opened.headers['mcp-session-id'] ?? '' };
    const params = { name: `${server}__${tool}`, arguments: { query: 'x' } };
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
    return toldIn(await post(service, '/mcp', call, session));
  },
  'MCP without a session': async (service, server, tool) => {
    const name = `${server}__${tool}`;
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name, arguments: { query: 'x' }, _meta };
    const headers = {
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    };
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
    return toldIn(await post(service, '/mcp', call, headers));
  },
  'a query': async (service, server) => {
    const asked = { query: 'x', servers: [server] };
    const answer = await post(service, '/api/v1/aggregator/query', asked);
    const { context } = answer as { context: { errors: [string] } };
    // A server that is not connected is not asked, and its error is the reason for that.
    const [, outcome = 'not executed'] = /\(outcome: (.+)\)$/.exec(context.errors[0]) ?? [];
    return { outcome };
  },
};

describe.each([
  ['STDIO', 'PostgreSQL'],
  ['SSE', 'PostgreSQL'],
  ['HTTP', 'PostgreSQL'],
  ['HTTP', 'PGlite'],
] as const)('a call to a server over %s that ends (%s)', (kind, engine) => {
  let service: TestApp;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const peers: HttpPeer[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startApp(engine === 'PGlite' ? { DATABASE_URL: '' } : {});
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(peers.map((peer) => peer.stop()));
    await folder.remove();
  });

  async function configOf(name: string): Promise<object> {
    if (kind === 'STDIO') {
      const args = [fixture('cutting.mjs'), 'stdio', join(folder.path, name)];
      return { command: process.execPath, args };
    }
    const peer = await httpPeer('cutting.mjs', [kind.toLowerCase()]);
    peers.push(peer);
    return kind === 'SSE' ? { url: peer.url } : { base_url: peer.url };
  }

  it.each([
    ['REST', 'change'],
    ['REST', 'look'],
    ['MCP with a session', 'change'],
    ['MCP with a session', 'look'],
    ['MCP without a session', 'change'],
    ['MCP without a session', 'look'],
    ['a query', 'look'],
  ] as const)(
    'may have been executed once it was sent, else not: %s, tool %s',
    async (by, tool) => {
      const name = `${by.toLowerCase().replaceAll(' ', '-')}-${tool}`;
      const api = new Api(service);
      const id = await api.register({
        name,
        transport_type: kind,
        connection_config: await configOf(name),
      });
      await eventually(async () => {
        const { body } = await api.call('GET', `/servers/${id}`);
        expect(body).toMatchObject({ status: 'CONNECTED', tool_count: 2 });
      });
      const call = entries[by];
      const sent = await call?.(service, name, tool);
      expect(sent).toMatchObject({ outcome: 'unknown' });
      expect(sent?.status).not.toBe('CONNECTED');
      const unsent = await call?.(service, name, tool);
      expect(unsent).toMatchObject({ outcome: 'not executed' });
      expect(unsent?.status).not.toBe('CONNECTED');
    },
  );
});
