import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';

const QUERY = '/api/v1/aggregator/query';
const TOOL = 'mcp__proxy__aggregator__query';
const question = 'How do I implement React hooks for state management?';
const answering = ['archive', 'docs', 'forum', 'notes', 'portal', 'wiki'];
const failing = ['dead', 'huge', 'wrong'];
const allServers = [...answering, ...failing].toSorted();

const answerSchema = z.object({
  results: z.array(
    z.object({
      content: z.string(),
      server: z.string(),
      tool: z.string(),
      url: z.string().optional(),
      sources: z.array(z.object({ server: z.string() })).optional(),
      relevanceScore: z.number().min(0).max(1),
      rank: z.int(),
      timestamp: z.iso.datetime(),
    }),
  ),
  metadata: z.object({
    serversQueried: z.int(),
    serversSucceeded: z.int(),
    totalResultsRaw: z.int(),
    totalResultsDedup: z.int(),
    resultsReturned: z.int(),
    processingTimeMs: z.int(),
    serverDiversity: z.number().min(0).max(1),
    servers: z.array(
      z.object({
        name: z.string(),
        status: z.string(),
        tool: z.string().nullable(),
        elapsedMs: z.int(),
        error: z.string().nullable(),
      }),
    ),
  }),
});

const explainedSchema = answerSchema.extend({
  metadata: z.object({
    explanation: z.object({
      timeline: z.array(
        z.object({
          server: z.string(),
          tool: z.string(),
          kind: z.string(),
          startMs: z.int(),
          endMs: z.int(),
          arguments: z.array(z.string()),
          outcome: z.string(),
          error: z.string().nullable(),
          pieces: z.int(),
        }),
      ),
      phases: z.object({ chosenMs: z.int(), answeredMs: z.int(), rankedMs: z.int() }),
      folded: z.array(z.object({ into: z.int(), server: z.string() })),
      foldedTotal: z.int(),
      notQueried: z.array(z.object({ server: z.string(), reason: z.string() })),
      tokens: z.object({
        read: z.int(),
        duplicates: z.int(),
        notReturned: z.int(),
        cut: z.int(),
        returned: z.int(),
      }),
    }),
  }),
});

describe('one question to many servers', () => {
  let service: TestApp;
  let library: HttpPeer;
  let dead: HttpPeer;

  const request = (
    method: string,
    path: string,
    body?: object,
    token = service.token,
    { url } = service,
  ): Promise<Answer> =>
    send(url, path, { method, token, ...(body && { body: JSON.stringify(body) }) });
  const query = async (body: object): Promise<z.infer<typeof answerSchema>> => {
    const answer = await request('POST', QUERY, body);
    expect(answer.status).toBe(200);
    return answerSchema.parse(answer.body);
  };
  const asked = async (): Promise<Record<string, number>> =>
    (await (await fetch(`${library.url}/log`)).json()) as Record<string, number>;

  beforeAll(async () => {
    library = await httpPeer('library.mjs');
    dead = await httpPeer('library.mjs');
    service = await startApp();
    await registerAt(service, allServers);
    await dead.stop();
  });
  async function registerAt(at: TestApp, names: readonly string[]): Promise<void> {
    for (const name of names) {
      const base = name === 'dead' ? dead.url : library.url;
      const body = {
        name,
        transport_type: 'HTTP',
        connection_config: { base_url: `${base}/${name}` },
      };
      const registered = await request('POST', '/api/v1/aggregator/servers', body, at.token, at);
      expect(registered.status).toBe(201);
    }
    await eventually(async () => {
      const path = '/api/v1/aggregator/servers';
      const { body } = await request('GET', path, undefined, at.token, at);
      const { servers } = z
        .object({ servers: z.array(z.object({ tool_count: z.number() })) })
        .parse(body);
      expect(servers.every((server) => server.tool_count === 2)).toBe(true);
    });
  }

  afterAll(async () => {
    await service.close();
    await library.stop();
  });

  it('is answered with the outcome of each server', async () => {
    const before = await asked();
    const { results, metadata } = await query({ query: question });
    const after = await asked();

    expect(metadata).toMatchObject({ serversQueried: 9, serversSucceeded: 6 });
    const status = new Map(metadata.servers.map((server) => [server.name, server]));
    for (const name of answering) {
      expect(status.get(name)).toMatchObject({ status: 'succeeded', tool: 'search', error: null });
    }
    expect(status.get('wrong')?.error).toBe(
      'search answered with an error: the library burnt down',
    );
    // Cut off because of its size, or on a busy machine by the timeout.
    expect(status.get('huge')?.status).toMatch(/^(?:failed|timed_out)$/);
    expect(status.get('dead')).toMatchObject({ tool: 'search', error: expect.any(String) });
    for (const name of allServers.filter((server) => server !== 'dead')) {
      expect((after[name] ?? 0) - (before[name] ?? 0)).toBe(1);
    }
    expect(Object.keys(after).filter((key) => key.includes('purge'))).toEqual([]);

    expect(results).toHaveLength(metadata.resultsReturned);
    expect(metadata.totalResultsDedup).toBe(8);
    expect(metadata.totalResultsRaw).toBe(6 * 5);
    expect(results.map(({ rank }) => rank)).toEqual(results.map((_, i) => i + 1));
    const scores = results.map(({ relevanceScore }) => relevanceScore);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const shared = results.find(({ content }) => content.startsWith('useState'));
    expect(shared?.sources?.map(({ server }) => server).toSorted()).toEqual(answering);
    expect(results.at(-1)?.content).toMatch(/cafeteria|PostgreSQL/);
    expect(metadata.serverDiversity).toBeCloseTo(6 / 9, 2);
  });

  it('has a deterministic answer, except for the time', async () => {
    const ranking = async (): Promise<string> =>
      JSON.stringify(
        (await query({ query: question, servers: answering })).results.map((result) => ({
          ...result,
          timestamp: '',
        })),
      );
    const first = await ranking();
    for (let i = 0; i < 20; i++) expect(await ranking()).toBe(first);
  });

  it('queries only the named servers; an unavailable one counts as queried', async () => {
    await request('POST', '/api/v1/aggregator/servers', {
      name: 'absent',
      transport_type: 'HTTP',
      auto_connect: false,
      connection_config: { base_url: `${library.url}/absent` },
    });
    const { metadata } = await query({ query: question, servers: ['docs', 'absent', 'docs'] });
    expect(metadata.servers).toMatchObject([
      { name: 'absent', status: 'unavailable', tool: null, error: 'disconnected' },
      { name: 'docs', status: 'succeeded' },
    ]);
  });

  it('reports unavailable servers until they are connected again', async () => {
    const { metadata } = await query({ query: question, servers: [] });
    expect(metadata.servers.map(({ name }) => name)).toEqual(allServers);
    expect(metadata.servers.find(({ name }) => name === 'dead')).toMatchObject({
      status: 'unavailable',
      tool: null,
      error: expect.any(String),
    });
  });

  it('is refused with the location of each invalid field', async () => {
    for (const [body, field, msg, type = 'value_error'] of [
      [{}, 'query', 'Is required'],
      [{ query: ' ' }, 'query', 'Must not be empty'],
      [{ query: 7 }, 'query', 'Must be a string, got 7'],
      [{ query: 'x'.repeat(10_001) }, 'query', 'Must have at most 10000 characters, got 10001'],
      [{ query: 'x', maxResults: 500 }, 'maxResults', 'Must be between 10 and 100, got 500'],
      [{ query: 'x', maxResults: 10.5 }, 'maxResults', 'Must be a whole number, got 10.5'],
      [{ query: 'x', servers: 'docs' }, 'servers', 'Must be a list of server names'],
      [{ query: 'x', servers: ['missing'] }, 'servers', 'Unknown server: missing'],
      [{ query: 'x', max_results: 10 }, 'max_results', 'Unknown field', 'extra_forbidden'],
    ] as const) {
      expect(await request('POST', QUERY, body)).toMatchObject({
        status: 422,
        body: {
          error_code: 'VALIDATION_ERROR',
          detail: [{ loc: ['body', field], msg, type }],
        },
      });
    }
  });

  describe('with a timeout for each server', () => {
    const names = ['docs', 'hang', 'wrong'];
    let impatient: TestApp;
    beforeAll(async () => {
      impatient = await startApp({ MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT: '8' });
      await registerAt(impatient, names);
    });
    afterAll(() => impatient.close());
    const ask = (servers: readonly string[]): Promise<Answer> =>
      request('POST', QUERY, { query: question, servers }, impatient.token, impatient);

    it('is answered without a server that does not answer in time', async () => {
      const { metadata } = answerSchema.parse((await ask(['docs', 'hang'])).body);
      expect(metadata).toMatchObject({
        serversQueried: 2,
        serversSucceeded: 1,
        servers: [
          { name: 'docs', status: 'succeeded' },
          { name: 'hang', status: 'timed_out', error: 'timeout after 8s' },
        ],
      });
    });

    it('fails only when no server answers', async () => {
      expect(await ask(['hang', 'wrong'])).toMatchObject({
        status: 503,
        body: {
          detail: 'Aggregation failed: all servers unavailable',
          error_code: 'SERVER_UNAVAILABLE',
          context: {
            attempted_servers: ['hang', 'wrong'],
            errors: [
              'hang: timeout after 8s',
              'wrong: search answered with an error: the library burnt down',
            ],
          },
        },
      });
    });
  });

  it('accepts a limit of at least ten results, and returns no more than the limit', async () => {
    const body = { query: question, maxResults: 10, servers: answering };
    const { results, metadata } = await query(body);
    expect(results.length).toBeLessThanOrEqual(10);
    expect(metadata.resultsReturned).toBe(results.length);
  });

  it('requires the scope `call`', async () => {
    expect(await request('POST', QUERY, { query: 'x' }, service.tokens.read)).toMatchObject({
      status: 403,
    });
  });

  it('says why each tool was asked, when asked to explain', async () => {
    const answer = await request('POST', QUERY, {
      query: question,
      servers: ['docs'],
      explain: true,
    });
    expect(answer.body).toMatchObject({
      metadata: {
        explanation: {
          rule: null,
          servers: [
            {
              name: 'docs',
              asked: [
                {
                  tool: 'search',
                  arguments: { query: question },
                  why: expect.stringContaining('takes the question as "query"'),
                },
              ],
              notAsked: [{ tool: 'purge_search', reason: 'is annotated destructive' }],
            },
          ],
        },
      },
    });
  });

  it('explains its time, its duplicates and its tokens', async () => {
    const answer = await request('POST', QUERY, {
      query: question,
      servers: answering,
      explain: true,
    });
    const { results, metadata } = explainedSchema.parse(answer.body);
    const { timeline, phases, tokens, folded, foldedTotal, notQueried } = metadata.explanation;
    expect(new Set(timeline.map(({ server }) => server))).toEqual(new Set(answering));
    for (const call of timeline) {
      expect(call.endMs).toBeGreaterThanOrEqual(call.startMs);
      expect(call.startMs).toBeGreaterThanOrEqual(phases.chosenMs);
      expect(call.endMs).toBeLessThanOrEqual(phases.answeredMs);
    }
    expect(timeline).toContainEqual(
      expect.objectContaining({
        server: 'docs',
        tool: 'search',
        kind: 'call',
        arguments: ['query'],
        outcome: 'succeeded',
        error: null,
      }),
    );
    expect(phases.rankedMs).toBeGreaterThanOrEqual(phases.answeredMs);
    expect(foldedTotal).toBe(folded.length);
    expect(folded.length).toBeGreaterThan(0);
    for (const { into, server } of folded) {
      expect(results[into - 1]?.sources?.map((source) => source.server)).toContain(server);
    }
    expect(tokens.read).toBe(tokens.duplicates + tokens.notReturned + tokens.cut + tokens.returned);
    expect(Math.min(...Object.values(tokens))).toBeGreaterThanOrEqual(0);
    expect(tokens.returned).toBeGreaterThan(0);
    expect(tokens.duplicates).toBeGreaterThan(0);
    expect(notQueried).toEqual([]);
  });

  describe('rules', () => {
    afterAll(() => request('PUT', `${QUERY}/rules`, { rules: [] }));

    it('choose the servers of a question, the first that matches', async () => {
      const rules = [
        { pattern: 'parking|canteen', servers: ['archive'] },
        { pattern: '\\breact\\b', servers: ['docs', 'wiki', 'not-registered-yet'] },
      ];
      expect(await request('PUT', `${QUERY}/rules`, { rules })).toMatchObject({
        status: 200,
        body: { rules, total: 2 },
      });
      expect(await request('GET', `${QUERY}/rules?limit=1`)).toMatchObject({
        body: { rules: rules.slice(0, 1), total: 2, limit: 1, offset: 0 },
      });
      const { metadata } = await query({ query: question });
      expect(metadata.servers.map(({ name }) => name)).toEqual(['docs', 'wiki']);
      const explained = await request('POST', QUERY, { query: question, explain: true });
      expect(explainedSchema.parse(explained.body).metadata.explanation.notQueried).toContainEqual({
        server: 'archive',
        reason: 'the rule that matched does not name it',
      });
      const other = await query({ query: 'vacuum' });
      expect(other.metadata.serversSucceeded).toBe(answering.length);
    });

    it('are refused when they cannot be matched in linear time', async () => {
      const rules = [{ pattern: '(?<=a)b', servers: ['docs'] }];
      expect(await request('PUT', `${QUERY}/rules`, { rules })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'rules', 0, 'pattern'] }] },
      });
      expect(await request('GET', `${QUERY}/rules`)).toMatchObject({ body: { total: 2 } });
    });

    it('can be changed only with the scope `admin`', async () => {
      const change = request('PUT', `${QUERY}/rules`, { rules: [] }, service.tokens.call);
      expect(await change).toMatchObject({ status: 403 });
    });
  });

  describe('settings of a server', () => {
    const settings = `${QUERY}/servers/docs`;
    afterEach(() => request('DELETE', settings));

    it('exclude it from queries', async () => {
      await request('PUT', settings, { enabled: false });
      const { metadata } = await query({ query: question });
      expect(metadata.servers.map(({ name }) => name)).not.toContain('docs');
      const named = await query({ query: question, servers: ['docs', 'wiki'] });
      expect(named.metadata.servers[0]).toMatchObject({
        status: 'unavailable',
        error: 'turned off for aggregated queries',
      });
    });

    it('set the weight of its results', async () => {
      await request('PUT', settings, { weight: 5 });
      const { results } = await query({ query: question, servers: ['docs', 'notes'] });
      expect(results[0]?.server).toBe('docs');
      expect(results.at(-1)?.server).toBe('notes');
    });

    it('select its tool and argument, but never a destructive tool', async () => {
      const chosen = { tool: 'search', argument: 'query', arguments: { extra: 1 } };
      expect(await request('PUT', settings, chosen)).toMatchObject({
        status: 200,
        body: { name: 'docs', ...chosen, enabled: true, weight: 1, configured: true },
      });
      expect((await query({ query: question, servers: ['docs'] })).results.length).toBe(5);
      for (const [body, field] of [
        [{ tool: 'purge_search' }, 'tool'],
        [{ tool: 'nothing' }, 'tool'],
        [{ argument: 'query' }, 'argument'],
        [{ weight: 0 }, 'weight'],
        [{ wait: 1 }, 'wait'],
      ] as const) {
        expect(await request('PUT', settings, body)).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['body', field] }] },
        });
      }
    });

    it('are listed with the defaults, and can be reset', async () => {
      await request('PUT', settings, { weight: 2 });
      const list = await request('GET', `${QUERY}/servers?limit=500`);
      const { servers } = z
        .object({ servers: z.array(z.object({ name: z.string(), configured: z.boolean() })) })
        .parse(list.body);
      expect(servers.filter(({ configured }) => configured)).toEqual([
        expect.objectContaining({ name: 'docs' }),
      ]);
      expect(await request('DELETE', settings)).toMatchObject({ status: 204 });
      expect(await request('GET', settings)).toMatchObject({
        body: { configured: false, weight: 1 },
      });
      expect(await request('GET', `${QUERY}/servers/missing`)).toMatchObject({
        status: 404,
        body: { error_code: 'SERVER_NOT_FOUND' },
      });
    });
  });

  it('is found, described and called like any other tool', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${service.token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.url}/mcp/search`), { requestInit }),
    );
    const call = async (name: string, args: Record<string, unknown>): Promise<unknown> =>
      (await client.callTool({ name, arguments: args })).structuredContent;
    const found = await call('search_tools', { query: 'query many MCP servers', limit: 1 });
    expect(found).toMatchObject({ tools: [{ name: TOOL, server: null }] });
    expect(await call('describe_tool', { name: TOOL })).toMatchObject({
      server: null,
      tool: { name: TOOL, inputSchema: { required: ['query'] } },
    });
    const args = { query: question, servers: ['docs'] };
    expect(await call('call_tool', { name: TOOL, arguments: args })).toMatchObject({
      metadata: { serversQueried: 1, serversSucceeded: 1 },
    });
    await client.close();
  });

  describe.each(['/mcp', '/mcp/search'])('as a tool on %s', (path) => {
    let client: Client;

    beforeAll(async () => {
      client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { authorization: `Bearer ${service.token}` } };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(service.url + path), { requestInit }),
      );
    });
    afterAll(() => client.close());

    it('is listed under its own name, and returns text and equal structured content', async () => {
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === TOOL)).toMatchObject({
        inputSchema: { required: ['query'] },
        outputSchema: { required: ['results', 'metadata'] },
      });
      for (const name of [TOOL, 'aggregator__query']) {
        const args = { query: question, maxResults: 20, servers: ['docs', 'wiki'] };
        const result = await client.callTool({ name, arguments: args });
        const answer = answerSchema.parse(result.structuredContent);
        expect(answer.metadata).toMatchObject({ serversQueried: 2, serverDiversity: 1 });
        expect(result.content).toEqual([
          { type: 'text', text: JSON.stringify(result.structuredContent) },
        ]);
      }
    });

    it('refuses with the errors of its contract', async () => {
      const failed = client.callTool({
        name: TOOL,
        arguments: { query: 'x', servers: ['wrong', 'dead'] },
      });
      await expect(failed).rejects.toMatchObject({
        code: -32603,
        message: 'Aggregation failed: all servers unavailable',
        data: {
          attemptedServers: ['dead', 'wrong'],
          errors: [
            expect.stringMatching(/^dead: /),
            'wrong: search answered with an error: the library burnt down',
          ],
        },
      });
      for (const [args, field, reason] of [
        [{ query: 'x', maxResults: 500 }, 'maxResults', 'Must be between 10 and 100, got 500'],
        [{ query: 'x', servers: ['missing'] }, 'servers', 'Unknown server: missing'],
      ] as const) {
        await expect(client.callTool({ name: TOOL, arguments: args })).rejects.toMatchObject({
          code: -32602,
          message: 'Invalid query parameters',
          data: { field, reason },
        });
      }
    });

    it('sends progress to the client as servers answer', async () => {
      const seen: { progress: number; total?: number | undefined }[] = [];
      await client.callTool(
        { name: TOOL, arguments: { query: question, servers: ['docs', 'wrong', 'wiki'] } },
        { onprogress: (progress) => seen.push(progress) },
      );
      await sleep(0);
      expect(seen.map(({ progress, total }) => [progress, total])).toEqual([
        [1, 3],
        [2, 3],
        [3, 3],
      ]);
    });
  });
});
