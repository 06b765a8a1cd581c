import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { type CollectedSpan, Collector } from '../support/collector.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { type RawAnswer, rawClient } from '../support/raw-client.js';

/** 10,000 where there is time for them. */
const CALLS = Number(process.env['TRACED_CALLS'] ?? '400');
const AT_ONCE = 16;
/** Of the newest revision, which the conventions do not have yet. */
const METHODS_OF_2026 = ['server/discover', 'subscriptions/listen'];
const ERAS = ['legacy', 'modern'] as const;
const SERVERS = ERAS.flatMap((era) => [`http_${era}`, `stdio_${era}`]);

const context = z.object({
  meta: z
    .looseObject({ traceparent: z.unknown().optional(), tracestate: z.unknown().optional() })
    .optional(),
  headers: z
    .object({ traceparent: z.string().optional(), tracestate: z.string().optional() })
    .optional(),
});

/** What the server says of the trace context that reached it. */
function reached(answer: RawAnswer): z.infer<typeof context> {
  const { content } = z
    .object({ content: z.array(z.object({ text: z.string() })) })
    .parse(answer.result);
  return context.parse(JSON.parse(content[0]?.text ?? ''));
}

function newContext(isSampled = true): { traceId: string; spanId: string; traceparent: string } {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}` };
}

interface Traced extends TestApp {
  readonly collector: Collector;
  readonly peers: readonly HttpPeer[];
}

async function startTraced(settings: Record<string, string> = {}): Promise<Traced> {
  const collector = await Collector.start();
  const service = await startApp({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_BSP_MAX_QUEUE_SIZE: '100000',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    MCP_AGGREGATOR_TRACE_SLOW: '3600',
    ...settings,
  });
  const api = new Api(service);
  const peers: HttpPeer[] = [];
  for (const era of ERAS) {
    const peer = await httpPeer('traced.mjs', ['http', era]);
    peers.push(peer);
    const config = { base_url: peer.url };
    await api.register({
      name: `http_${era}`,
      transport_type: 'HTTP',
      connection_config: config,
    });
    await api.register({
      name: `stdio_${era}`,
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('traced.mjs'), 'stdio', era],
      },
    });
  }
  await eventually(async () => {
    const { body } = await api.call('GET', '/tools?limit=100');
    expect(JSON.stringify(body)).toContain('stdio_modern.where');
    for (const server of SERVERS) expect(JSON.stringify(body)).toContain(`${server}.where`);
  });
  const close = async (): Promise<void> => {
    await service.close();
    for (const peer of peers) await peer.stop();
    await collector.close();
  };
  return { ...service, collector, peers, close };
}

/** Those of one request, with the one that came from its client first. */
async function spansOf(collector: Collector, traceId: string, count: number) {
  return eventually(() => {
    const spans = collector.ofTrace(traceId);
    expect(spans.map(({ name }) => name)).toHaveLength(count);
    const root = spans.find(({ kind }) => kind === 2);
    return { spans, root, upstream: spans.find(({ kind }) => kind === 3) };
  });
}

describe('a traced service', () => {
  let service: Traced;
  beforeAll(async () => {
    service = await startTraced({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  });
  afterAll(() => service.close());

  const clientOf = (era: 'legacy' | 'modern') =>
    rawClient(era, `${service.url}/mcp`, service.tokens.call);

  it.each(['initialize', 'server/discover', 'subscriptions/listen'])(
    'records %s, with which a client begins',
    async (method) => {
      const sent = newContext();
      const modern = {
        notifications: { toolsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      };
      const clientInfo = { name: 'raw', version: '1' };
      const legacy = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const isLegacy = method === 'initialize';
      const answer = await fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.tokens.call}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          traceparent: sent.traceparent,
          ...(!isLegacy && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }),
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method },
          params: isLegacy ? legacy : modern,
        }),
      });
      expect(answer.status).toBe(200);
      const { root } = await spansOf(service.collector, sent.traceId, 1);
      expect(root).toMatchObject({
        parentSpanId: sent.spanId,
        name: method,
        attributes: { 'mcp.protocol.version': isLegacy ? '2025-11-25' : '2026-07-28' },
      });
      await answer.body?.cancel();
    },
  );

  describe.each(ERAS)('for a client of the %s era', (era) => {
    it.each(SERVERS)('is one trace from the client to %s', async (server) => {
      const client = await clientOf(era);
      const sent = newContext();
      const meta = { traceparent: sent.traceparent, tracestate: 'vendor=1' };
      const { meta: got, headers } = reached(await client.call(`${server}__where`, {}, { meta }));
      const { root, upstream } = await spansOf(service.collector, sent.traceId, 2);
      expect(root).toMatchObject({
        parentSpanId: sent.spanId,
        name: `tools/call ${server}__where`,
        traceState: 'vendor=1',
      });
      expect(upstream).toMatchObject({ parentSpanId: root?.spanId, name: 'tools/call where' });
      const carried = `00-${sent.traceId}-${upstream?.spanId}-01`;
      expect(got).toMatchObject({ traceparent: carried, tracestate: 'vendor=1' });
      const inHeaders = { traceparent: carried, tracestate: 'vendor=1' };
      expect(headers).toEqual(server.startsWith('http') ? inHeaders : undefined);
    });

    it('takes the context of the HTTP request when there is none in _meta', async () => {
      const client = await clientOf(era);
      const sent = newContext();
      const headers = { traceparent: sent.traceparent };
      reached(await client.call('http_legacy__where', {}, { headers }));
      const { root } = await spansOf(service.collector, sent.traceId, 2);
      expect(root?.parentSpanId).toBe(sent.spanId);
    });

    it('prefers the context in _meta, and links to that of the HTTP request', async () => {
      const client = await clientOf(era);
      const [inMeta, inHeader] = [newContext(), newContext()];
      await client.call(
        'http_legacy__where',
        {},
        {
          meta: { traceparent: inMeta.traceparent },
          headers: { traceparent: inHeader.traceparent },
        },
      );
      const { root } = await spansOf(service.collector, inMeta.traceId, 2);
      expect(root?.links).toMatchObject([{ traceId: inHeader.traceId, spanId: inHeader.spanId }]);
      expect(service.collector.ofTrace(inHeader.traceId)).toEqual([]);
    });

    it('passes a context on that the client does not want to be recorded', async () => {
      const client = await clientOf(era);
      const sent = newContext(false);
      const meta = { traceparent: sent.traceparent };
      const { meta: got, headers } = reached(await client.call('http_modern__where', {}, { meta }));
      expect(got?.traceparent).toBe(sent.traceparent);
      expect(headers?.traceparent).toBe(sent.traceparent);
      expect(service.collector.ofTrace(sent.traceId)).toEqual([]);
    });

    it.each([
      ['is empty', ''],
      ['is no text', 7],
      ['is too long', `00-${'a'.repeat(5_000)}`],
      ['has a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
      ['has a span of zeros', `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`],
      ['has the version ff', `ff-${'a'.repeat(32)}-00f067aa0ba902b7-01`],
      ['has more than its version allows', `00-${'a'.repeat(32)}-00f067aa0ba902b7-01-x`],
      ['is in capital letters', `00-${'A'.repeat(32)}-00F067AA0BA902B7-01`],
      ['has a line break', `00-${'a'.repeat(32)}-00f067aa0ba902b7-01\r\nx-evil: 1`],
    ])('answers calls whose traceparent %s', async (_what, traceparent) => {
      const client = await clientOf(era);
      const answer = await client.call('http_legacy__where', {}, { meta: { traceparent } });
      expect(reached(answer).headers).toEqual({});
    });

    it('names the trace of a failure of this service', async () => {
      const client = await clientOf(era);
      const sent = newContext();
      const { error } = await client.call(
        'nowhere__where',
        {},
        { meta: { traceparent: sent.traceparent } },
      );
      expect(error?.data).toMatchObject({ trace_id: sent.traceId });
      const { root } = await spansOf(service.collector, sent.traceId, 1);
      // A name that no tool has is text of the client.
      expect(root?.name).toBe('tools/call');
    });
  });

  it.each([
    ['an error answer', 'fail', 'tool_error'],
    ['a JSON-RPC error', 'refuse', '-32001'],
  ])('records a call with %s, whatever the sampler says', async (_what, tool, type) => {
    const client = await clientOf('legacy');
    const sent = newContext(false);
    const meta = { traceparent: sent.traceparent };
    await client.call(`http_legacy__${tool}`, {}, { meta });
    const { spans } = await spansOf(service.collector, sent.traceId, 2);
    expect(spans.map(({ attributes, status }) => [attributes['error.type'], status])).toEqual([
      [type, { code: 2 }],
      [type, { code: 2 }],
    ]);
  });

  it('names the trace in the audit log, and in errors over REST', async () => {
    const sent = newContext();
    const headers = { traceparent: sent.traceparent };
    const body = JSON.stringify({ name: 'http_legacy.refuse', arguments: {} });
    const { token } = service;
    const failed = await send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token,
      body,
      headers,
    });
    expect(failed.body).toMatchObject({ context: { trace_id: sent.traceId } });
    const { root, upstream } = await spansOf(service.collector, sent.traceId, 2);
    expect(root).toMatchObject({
      name: 'POST /api/v1/tools/call',
      attributes: { 'http.response.status_code': 502 },
    });
    expect(upstream?.parentSpanId).toBe(root?.spanId);
    await eventually(async () => {
      const { body: audit } = await new Api(service).call('GET', '/audit?event=tool.called');
      expect(JSON.stringify(audit)).toContain(sent.traceId);
    });
  });

  it('records an aggregated query with a span for each server', async () => {
    const sent = newContext();
    const body = JSON.stringify({ query: 'search for answers' });
    await send(service.url, '/api/v1/aggregator/query', {
      method: 'POST',
      token: service.token,
      body,
      headers: { traceparent: sent.traceparent },
    });
    await eventually(() => {
      const spans = service.collector.ofTrace(sent.traceId);
      const query = spans.find(({ name }) => name === 'query servers');
      const asked = spans.filter(({ name }) => name === 'ask server');
      expect(asked.map(({ attributes }) => attributes['switchboard.server'])).toHaveLength(4);
      for (const { attributes } of asked) {
        expect(SERVERS).toContain(attributes['switchboard.server']);
      }
      expect(new Set(asked.map(({ parentSpanId }) => parentSpanId))).toEqual(
        new Set([query?.spanId]),
      );
    });
  });

  it('records a search with its phases', async () => {
    const sent = newContext();
    await send(service.url, '/api/v1/search', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ query: 'where' }),
      headers: { traceparent: sent.traceparent },
    });
    const { spans } = await spansOf(service.collector, sent.traceId, 4);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'POST /api/v1/search',
      'rank tools',
      'search tools',
      'search vectors',
    ]);
  });

  it('names its attributes as the semantic conventions do', async () => {
    const conventions: Record<string, unknown> =
      await import('@opentelemetry/semantic-conventions/incubating');
    const known = Object.entries(conventions)
      .filter(([name]) => name.startsWith('ATTR_'))
      .map(([, key]) => key);
    const valuesOf = (enumeration: string): unknown[] =>
      Object.entries(conventions)
        .filter(([name]) => name.startsWith(`${enumeration}_VALUE_`))
        .map(([, value]) => value);
    const { spans } = service.collector;
    const used = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
    const own = [...used].filter((key) => key.startsWith('switchboard.'));
    expect([...used].filter((key) => !known.includes(key))).toEqual(own);
    for (const { attributes, kind, name } of spans) {
      const method = attributes['mcp.method.name'];
      if (method === undefined) continue;
      expect([...valuesOf('MCP_METHOD_NAME'), ...METHODS_OF_2026]).toContain(method);
      expect(valuesOf('NETWORK_TRANSPORT')).toContain(attributes['network.transport']);
      const operation = method === 'tools/call' ? 'execute_tool' : undefined;
      expect(attributes['gen_ai.operation.name']).toBe(operation);
      expect(attributes['mcp.protocol.version']).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(attributes['jsonrpc.request.id']).toEqual(expect.any(String));
      const tool = attributes['gen_ai.tool.name'];
      expect(name).toBe(tool === undefined ? method : `${method} ${tool}`);
      const isRemote = kind === 3 && attributes['network.transport'] === 'tcp';
      expect('server.address' in attributes && 'server.port' in attributes).toBe(isRemote);
    }
  });

  it('sends what the collector can read', () => {
    expect(service.collector.problem).toBeUndefined();
    expect(service.collector.resources[0]).toMatchObject({
      'service.name': 'mcp-aggregator-service',
    });
  });
});

describe('a service that traces everything', () => {
  let service: Traced;
  beforeAll(async () => {
    service = await startTraced();
  });
  afterAll(() => service.close());

  it(`joins each of ${CALLS} calls to its server in one trace`, async () => {
    const clients = {
      legacy: await rawClient('legacy', `${service.url}/mcp`, service.tokens.call),
      modern: await rawClient('modern', `${service.url}/mcp`, service.tokens.call),
    };
    const carried: { traceId: string; spanId: string; parent: string }[] = [];
    const callOne = async (i: number): Promise<void> => {
      const client = clients[ERAS[i % 2] ?? 'legacy'];
      const server = SERVERS[Math.floor(i / 2) % SERVERS.length];
      const sent = newContext();
      const meta = { traceparent: sent.traceparent };
      const { meta: got } = reached(await client.call(`${server}__where`, {}, { meta }));
      const [, traceId = '', spanId = ''] = String(got?.traceparent).split('-');
      expect(traceId).toBe(sent.traceId);
      carried.push({ traceId, spanId, parent: sent.spanId });
    };
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < CALLS) await callOne(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const { collector } = service;
    await eventually(() => {
      const byTrace = new Map<string, CollectedSpan[]>();
      for (const span of collector.spans) {
        byTrace.set(span.traceId, [...(byTrace.get(span.traceId) ?? []), span]);
      }
      for (const { traceId, spanId, parent } of carried) {
        const spans = byTrace.get(traceId) ?? [];
        const root = spans.find(({ parentSpanId }) => parentSpanId === parent);
        const upstream = spans.find((span) => span.spanId === spanId);
        expect(spans).toHaveLength(2);
        expect(upstream?.parentSpanId).toBe(root?.spanId);
      }
    });
  });

  it('records how servers were connected and their tools discovered', async () => {
    await eventually(() => {
      for (const name of ['connect server', 'discover tools']) {
        const found = service.collector.spans.filter((span) => span.name === name);
        const servers = found.map(({ attributes }) => attributes['switchboard.server']);
        expect(servers).toEqual(expect.arrayContaining(SERVERS));
      }
    });
  });

  it('answers every call while the collector answers none', async () => {
    const { collector } = service;
    const client = await rawClient('modern', `${service.url}/mcp`, service.tokens.call);
    collector.status = 0;
    const before = collector.requests;
    const answers = Array.from({ length: 50 }, () => client.call('http_legacy__where'));
    await Promise.all(answers.map(async (answer) => reached(await answer)));
    await eventually(() => expect(collector.requests).toBeGreaterThan(before));
    collector.status = 200;
  });

  it('keeps arguments, results and credentials out of every span', async () => {
    const secret = randomBytes(12).toString('hex');
    const client = await rawClient('legacy', `${service.url}/mcp`, service.tokens.call);
    const sent = newContext();
    await client.call(
      'http_legacy__where',
      { secret },
      { meta: { traceparent: sent.traceparent, note: secret } },
    );
    await spansOf(service.collector, sent.traceId, 2);
    const all = service.collector.bodies.join('\n');
    expect(all).not.toContain(secret);
    expect(all).not.toContain(service.tokens.call);
  });
});
