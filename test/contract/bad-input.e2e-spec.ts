import fc from 'fast-check';
import { startApp, type TestApp } from '../support/app.js';
import { type Answer, send } from '../support/http.js';
import { operationsOf, type Operation, readOpenApi } from '../support/openapi.js';

/** Requests per route; more than a thousand in total. */
const PER_ROUTE = 60;
const SEED = 20_261_118;

const awkward = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1e308,
    '',
    ' ',
    'a'.repeat(5_000),
    '\0',
    'a\0b',
    '\uD800',
    'x\uDFFF',
    '‮evil',
    '𝕳𝖎',
    '${MCP_CREDENTIAL_KEY}',
    "'; DROP TABLE mcp.tools; --",
    '../../etc/passwd',
    [],
    {},
    [[[[[[]]]]]],
    { constructor: { prototype: { polluted: true } } },
  ),
  fc.anything({ maxDepth: 3, withNullPrototype: false }).filter((value) => value !== undefined),
);

const fieldNames = fc.constantFrom(
  'name',
  'description',
  'transport_type',
  'connection_config',
  'health_check_url',
  'auto_connect',
  'force',
  'query',
  'limit',
  'arguments',
  'server_id',
  'server_filter',
  'skill_threshold',
  'strategy',
  'toString',
  'constructor',
  'surprise',
);

const jsonBodies = fc.oneof(
  awkward,
  fc.dictionary(fieldNames, awkward, { maxKeys: 6 }),
  fc.record({
    name: awkward,
    transport_type: fc.constantFrom('STDIO', 'SSE', 'HTTP', 'stdio'),
    connection_config: fc.dictionary(
      fc.constantFrom('command', 'args', 'env', 'url', 'base_url', 'headers', 'x'),
      awkward,
    ),
  }),
);

const rawBodies = fc.oneof(
  jsonBodies.map((value) => JSON.stringify(value) ?? 'undefined'),
  fc.constantFrom(
    '{',
    'null',
    '"',
    '{"a":1,}',
    '{"__proto__":{"admin":true}}',
    '{"name":"\\ud800"}',
    '['.repeat(200_000),
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
    '\uFEFF{}',
    '1'.repeat(10_000),
  ),
  fc.string({ maxLength: 200 }),
);

const ids = fc.constantFrom(
  '550e8400-e29b-41d4-a716-446655440000',
  '0',
  '-1',
  '99999999999999999999',
  'null',
  '%00',
  '%ff%fe',
  '..%2F..%2F',
  '%F0%9F%92%A9',
  'a'.repeat(3_000),
  "1'%20OR%20'1'='1",
);

const queries = fc.constantFrom(
  '',
  'limit=-1',
  'limit=999999999999999999999',
  'offset=NaN',
  'limit[]=1',
  'limit[a]=1',
  '__proto__[x]=1',
  'status=%00',
  'status=%ff',
  'a=1&a=2',
  'limit=1&limit=2',
  'include_tools=2',
  'wait_seconds=-5',
  'wait_seconds=1e9',
);

describe('bad requests', () => {
  let service: TestApp;
  let operations: Operation[];
  beforeAll(async () => {
    service = await startApp({ MCP_AGGREGATOR_RATE_LIMIT: '0' });
    operations = operationsOf(await readOpenApi(service));
  });
  afterAll(() => service.close());

  it('never get a 5xx that blames us, never crash it, and always an answer of the agreed shape', async () => {
    let sent = 0;
    for (const operation of operations) {
      const samples = fc.sample(fc.tuple(ids, queries, rawBodies), {
        numRuns: PER_ROUTE,
        seed: SEED,
      });
      const answers = await Promise.all(
        samples.map(async ([id, query, body]) => {
          const path = operation.path.replaceAll(/\{[^}]+\}/g, id);
          const sending = {
            method: operation.method,
            token: service.token,
            ...(operation.method !== 'GET' && { body }),
          };
          return {
            what: `${operation.method} ${path}?${query} ${body}`.slice(0, 300),
            answer: await send(service.url, `${path}?${query}`, sending),
          };
        }),
      );
      sent += answers.length;
      for (const { what, answer } of answers)
        expect({ what, problem: problemOf(answer) }).toEqual({ what, problem: undefined });
    }
    expect(sent).toBeGreaterThanOrEqual(1_000);
    expect((await send(service.url, '/health/live')).status).toBe(200);
  });

  it('may have null for an optional field, which counts as absent', async () => {
    const skill = { id: 'plain', name: 'Plain', description: 'plain', prototypes: null };
    const answer = await send(service.url, '/api/v1/aggregator/skills', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify(skill),
    });
    expect([answer.status, problemOf(answer)]).toEqual([201, undefined]);
  });

  it('are refused before they are read when the body is too large', async () => {
    const answer = await send(service.url, '/api/v1/aggregator/servers', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: 'a'.repeat(5_000_000) }),
    });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ error_code: 'PAYLOAD_TOO_LARGE' });
  });
});

/** What is wrong with a response; undefined for a success or an error in the agreed form. */
function problemOf({ status, body, text }: Answer): string | undefined {
  if (status < 400) return undefined;
  if (status >= 500 && status !== 503 && status !== 502 && status !== 504)
    return `status ${status}: ${text}`;
  const error = body as { detail?: unknown; error_code?: unknown } | undefined;
  if (typeof error !== 'object' || error === null) return `no JSON: ${text.slice(0, 200)}`;
  if (typeof error.error_code !== 'string') return `no error_code: ${text.slice(0, 200)}`;
  const listed =
    Array.isArray(error.detail) &&
    error.detail.every((issue: object) => 'loc' in issue && 'msg' in issue && 'type' in issue);
  if (typeof error.detail !== 'string' && !listed) return `no detail: ${text.slice(0, 200)}`;
  if (status === 422 && error.error_code === 'VALIDATION_ERROR' && !listed)
    return `no list of fields: ${text.slice(0, 200)}`;
  if (/\bat .*\.(?:ts|js):\d+|SELECT |INSERT |node_modules|\/work\/|\/tmp\//.test(text))
    return `inner detail: ${text.slice(0, 200)}`;
  return undefined;
}
