import { startApp, type TestApp } from '../support/app.js';
import { type Answer, send } from '../support/http.js';
import { longestBlock } from '../support/loop-delay.js';
import { operationsOf, readOpenApi } from '../support/openapi.js';

/** Far above the time with limits, far below the time without: 56 s for the first body. */
const BLOCK_MS = 400;

const keys = (count: number, value = '1'): string =>
  `{${Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join()}}`;
const items = (count: number, value: string): string => `[${Array(count).fill(value).join()}]`;

describe('bodies', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ MCP_AGGREGATOR_RATE_LIMIT: '0' });
  });
  afterAll(() => service.close());

  const post = (path: string, body: string, scope: 'read' | 'call' | 'admin' = 'admin') =>
    longestBlock(() =>
      send(service.url, path, { method: 'POST', token: service.tokens[scope], body }),
    );
  const call = (value: string): string => `{"name":"missing.here","arguments":{"x":${value}}}`;

  it.each([
    ['unknown keys, to search', '/api/v1/search', 'read', keys(330_000)],
    ['keys, to a tool', '/api/v1/tools/call', 'call', call(keys(300_000))],
    ['small objects, to a tool', '/api/v1/tools/call', 'call', call(items(400_000, '{"a":1}'))],
    ['empty lists, to a tool', '/api/v1/tools/call', 'call', call(items(1_300_000, '[]'))],
    ['strings, to a tool', '/api/v1/tools/call', 'call', call(items(800_000, '"a"'))],
    ['names of servers, to a query', '/api/v1/aggregator/query', 'call', items(300_000, '"a"')],
    ['keys, to no route', '/api/v1/nothing/here', 'read', keys(330_000)],
  ] as const)(
    'of very many %s are refused before they are parsed',
    async (_, path, scope, body) => {
      const { result, blockedMs } = await post(path, body, scope);
      expect([result.status, result.body]).toEqual([
        413,
        { detail: expect.any(String), error_code: 'PAYLOAD_TOO_LARGE' },
      ]);
      expect(blockedMs).toBeLessThan(BLOCK_MS);
    },
  );

  it.each(['/mcp', '/mcp/search'])(
    'of very many keys are refused by %s as JSON-RPC',
    async (path) => {
      const params = keys(300_000);
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":${params}}}`;
      const { result, blockedMs } = await post(path, body, 'call');
      expect([result.status, result.body]).toEqual([
        400,
        {
          jsonrpc: '2.0',
          id: null,
          error: { code: expect.any(Number), message: expect.any(String) },
        },
      ]);
      expect(blockedMs).toBeLessThan(BLOCK_MS);
    },
  );

  it('with many unknown fields are refused with the first 100, on every route', async () => {
    const operations = operationsOf(await readOpenApi(service));
    const withBody = operations.filter(({ method }) => !['GET', 'DELETE'].includes(method));
    let told = 0;
    for (const { method, path } of withBody) {
      const target = path.replaceAll(/\{[^}]+\}/g, '550e8400-e29b-41d4-a716-446655440000');
      for (const count of [900, 5_000]) {
        const sending = { method, token: service.token, body: keys(count) };
        const { result, blockedMs } = await longestBlock(() => send(service.url, target, sending));
        expect({ target, status: result.status }).toEqual({ target, status: expect.any(Number) });
        expect(result.status).toBeLessThan(500);
        expect(issuesOf(result).length).toBeLessThanOrEqual(100);
        expect(blockedMs).toBeLessThan(BLOCK_MS);
        if (issuesOf(result).length === 100) told++;
      }
    }
    expect(told).toBeGreaterThanOrEqual(5);
  });

  it('with long lists where none belongs are refused at once', async () => {
    const rules = `{"rules":${items(15_000, '{}')}}`;
    const { result, blockedMs } = await longestBlock(() =>
      send(service.url, '/api/v1/aggregator/query/rules', {
        method: 'PUT',
        token: service.token,
        body: rules,
      }),
    );
    expect(result.status).toBe(422);
    expect(issuesOf(result)).toHaveLength(1);
    expect(blockedMs).toBeLessThan(BLOCK_MS);
  });

  it('of more than 64 kB are accepted only by routes that need them', async () => {
    const large = JSON.stringify({ force: false, more: 'x'.repeat(70_000) });
    const id = '550e8400-e29b-41d4-a716-446655440000';
    for (const path of [`servers/${id}/disconnect`, `servers/${id}/connect`]) {
      expect((await post(`/api/v1/aggregator/${path}`, large)).result.status).toBe(413);
    }
    const found = await post('/api/v1/tools/call', call(JSON.stringify('x'.repeat(4_000_000))));
    expect(found.result.status).toBe(404);
    const search = { query: 'x', server_filter: Array.from({ length: 1_000 }, longName) };
    expect((await post('/api/v1/search', JSON.stringify(search))).result.status).toBe(200);
    const question = { query: '語'.repeat(10_000), servers: search.server_filter };
    const asked = await post('/api/v1/aggregator/query', JSON.stringify(question));
    expect(asked.result.body).toMatchObject({ detail: [{ loc: ['body', 'servers'] }] });
  });

  it('may be as large as a configuration may be', async () => {
    const env = { VALUE: '語'.repeat(30_000) };
    const body = { name: 'large', transport_type: 'STDIO', auto_connect: false };
    const { result } = await post(
      '/api/v1/aggregator/servers',
      JSON.stringify({ ...body, connection_config: { command: 'true', env } }),
    );
    expect(result.status).toBe(201);
  });

  it('and query strings are bounded: a query string has few keys', async () => {
    const query = Array.from({ length: 2_000 }, (_, i) => `k${i}`).join('&');
    const { result, blockedMs } = await longestBlock(() =>
      send(service.url, `/api/v1/aggregator/servers?${query}`, { token: service.token }),
    );
    expect(result.status).toBe(422);
    expect(issuesOf(result)).toEqual([
      { loc: ['query'], msg: expect.stringContaining('at most'), type: 'value_error' },
    ]);
    expect(blockedMs).toBeLessThan(BLOCK_MS);
  });
});

function longName(_: unknown, i: number): string {
  return `${i}-${'語'.repeat(240)}`;
}

function issuesOf({ body }: Answer): unknown[] {
  const { detail } = (body ?? {}) as { detail?: unknown };
  return Array.isArray(detail) ? detail : [];
}
