/*
 * node test/faults/generated-inputs.mjs [inputs=60000]
 *
 * T7: generated requests for every REST route of the OpenAPI document and for the MCP endpoints, valid and broken. None
 * may be answered by a 5xx that is not meant: a 500, one without an error code, or an internal error of JSON-RPC.
 */
import { Agent, request as send } from 'node:http';
import { row, startService } from './service.mjs';

const inputs = Number(process.argv[2] ?? 60_000);
const CLIENTS = 32;
/** Expected 5xx: a server is unavailable or the service is overloaded. */
const MEANT = new Set([501, 502, 503, 504]);

/** Small and seeded, so that a run can be repeated (mulberry32). */
let state = Number(process.env.FAULTS_SEED ?? 20_261_119);
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}
const below = (n) => Math.floor(random() * n);
const pick = (items) => items[below(items.length)];

const TEXTS = [
  '',
  ' ',
  'a',
  'memory.read_graph',
  'ü',
  '\u0000',
  '\ud800',
  '../../etc/passwd',
  "'; DROP TABLE mcp.tools; --",
  '${MCP_CREDENTIAL_KEY}',
  '{{7*7}}',
  '%00',
  '%E0%A4%A',
  'x'.repeat(300),
  'x'.repeat(5_000),
  '\u202e',
  '__proto__',
  'constructor',
  '00000000-0000-4000-8000-000000000000',
  '-1',
  '1e400',
  'NaN',
  'true',
  'null',
  '[]',
  '2026-13-45',
];
const NUMBERS = [0, -0, 1, -1, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 5e-324];
const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
  'server/discover',
  'notifications/initialized',
  'notifications/cancelled',
  'no/such',
  '',
];
const KEYS = [
  'name',
  'arguments',
  'uri',
  'cursor',
  'ref',
  'argument',
  'level',
  '_meta',
  'protocolVersion',
  'query',
  'limit',
  'x',
];

function value(depth = 0) {
  switch (below(depth > 3 ? 4 : 7)) {
    case 0:
      return pick(TEXTS);
    case 1:
      return pick(NUMBERS);
    case 2:
      return pick([true, false, null]);
    case 3:
      return String(below(1_000));
    case 4:
      return Array.from({ length: below(5) }, () => value(depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: below(5) }, () => [pick([...KEYS, ...TEXTS]), value(depth + 1)]),
      );
  }
}

/** A value for a schema, valid in most cases. */
function fitting(schema, document, depth = 0) {
  if (schema?.$ref) return fitting(at(document, schema.$ref), document, depth);
  if (!schema || random() < 0.15 || depth > 5) return value(depth);
  const one = schema.oneOf ?? schema.anyOf ?? schema.allOf;
  if (one) return fitting(pick(one), document, depth + 1);
  if (schema.enum) return random() < 0.8 ? pick(schema.enum) : value(depth);
  switch (schema.type) {
    case 'string':
      return schema.example ?? pick(TEXTS);
    case 'integer':
    case 'number':
      return random() < 0.6 ? below(600) : pick(NUMBERS);
    case 'boolean':
      return random() < 0.5;
    case 'array':
      return Array.from({ length: below(4) }, () => fitting(schema.items, document, depth + 1));
    default:
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(() => random() < 0.8)
          .map(([key, inner]) => [key, fitting(inner, document, depth + 1)]),
      );
  }
}

function at(document, ref) {
  return ref
    .slice(2)
    .split('/')
    .reduce((node, key) => node?.[key], document);
}

/** Starts no program and names no address outside of this machine. */
function harmless(body) {
  if (typeof body !== 'object' || body === null) return body;
  const { connection_config: config } = body;
  if (config !== undefined) {
    body.auto_connect = false;
    if (typeof config === 'object' && config !== null && 'command' in config)
      config.command = 'no-such-program';
    for (const key of ['url', 'base_url']) {
      if (typeof config === 'object' && config !== null && key in config)
        config[key] = 'http://127.0.0.1:1/mcp';
    }
  }
  if ('health_check_url' in body) body.health_check_url = 'http://127.0.0.1:1/health';
  return body;
}

const encoded = (text) => encodeURIComponent(String(text).toWellFormed()) || '%20';
const asText = (thing) => (typeof thing === 'string' ? thing : JSON.stringify(thing));

function restInput(routes, document) {
  const { path, method, operation } = pick(routes);
  const parameters = operation.parameters ?? [];
  const filled = path.replace(/\{[^}]+\}/g, () => encoded(pick(TEXTS)));
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && random() < 0.6)
    .map(({ name, schema }) => `${name}=${encoded(asText(fitting(schema, document)))}`);
  const schema = operation.requestBody?.content?.['application/json']?.schema;
  const body = schema && harmless(fitting(schema, document));
  return {
    method: method.toUpperCase(),
    path: query.length > 0 ? `${filled}?${query.join('&')}` : filled,
    body: body === undefined ? undefined : broken(JSON.stringify(body)),
  };
}

function mcpInput() {
  const message = {
    jsonrpc: random() < 0.95 ? '2.0' : value(),
    ...(random() < 0.9 && { id: random() < 0.9 ? below(1_000) : value() }),
    method: random() < 0.95 ? pick(METHODS) : value(),
    ...(random() < 0.8 && {
      params:
        random() < 0.8
          ? Object.fromEntries(KEYS.filter(() => random() < 0.3).map((key) => [key, value(1)]))
          : value(),
    }),
  };
  const modern = random() < 0.3;
  const headers = modern
    ? {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': String(message.method).replace(/[^\x21-\x7e]/g, ''),
      }
    : {};
  return {
    method: random() < 0.95 ? 'POST' : 'DELETE',
    path: pick(['/mcp', '/mcp/search', '/mcp/servers/none']),
    headers,
    body: broken(JSON.stringify(random() < 0.9 ? message : [message, message])),
  };
}

/** Sometimes removes or inserts a byte. */
function broken(json) {
  if (random() < 0.95) return json;
  const place = below(json.length + 1);
  return random() < 0.5
    ? json.slice(0, place)
    : json.slice(0, place) + pick([',', '}', '"', '\u0000']) + json.slice(place);
}

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

function exchange(service, { method, path, headers = {}, body }) {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve) => {
    const request = send(
      {
        agent,
        hostname,
        port,
        method,
        path,
        headers: {
          authorization: `Bearer ${service.token}`,
          accept: 'application/json, text/event-stream',
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
          ...headers,
        },
        timeout: 20_000,
      },
      (answer) => {
        // The stream of events has no end.
        if (method === 'GET' && answer.headers['content-type']?.startsWith('text/event-stream')) {
          resolve({ status: answer.statusCode, text: '' });
          answer.destroy();
          return;
        }
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('close', () =>
          resolve({ status: answer.statusCode, text: Buffer.concat(parts).toString() }),
        );
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 20 s')));
    request.on('error', (error) => resolve({ status: 0, text: error.message }));
    request.end(body);
  });
}

function isWrong({ status, text }) {
  if (status === 0) return true;
  if (status >= 500) return !MEANT.has(status) || !/"error_code"|"status"|"jsonrpc"/.test(text);
  return /"code":\s*-32603/.test(text);
}

const service = await startService({
  env: { MCP_AGGREGATOR_RATE_LIMIT: '0', MCP_AGGREGATOR_LOG_LEVEL: 'fatal' },
});
let sent = 0;
const wrong = [];
try {
  const document = JSON.parse(
    (await exchange(service, { method: 'GET', path: '/docs/openapi.json' })).text,
  );
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const client = async () => {
    while (sent < inputs && wrong.length < 20) {
      sent += 1;
      const input = random() < 0.5 ? restInput(routes, document) : mcpInput();
      const answer = await exchange(service, input);
      if (isWrong(answer)) wrong.push({ input, answer });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
} finally {
  agent.destroy();
  await service.stop();
}
for (const { input, answer } of wrong.slice(0, 5)) {
  console.error(JSON.stringify(input).slice(0, 600), answer.status, answer.text.slice(0, 300));
}
row(
  'T7',
  `${sent} generated inputs over REST and MCP`,
  '0 answers 5xx that are not meant',
  wrong.length,
  wrong.length === 0,
);
