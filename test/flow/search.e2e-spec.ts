import { Database } from '@app/platform';
import { type FakeQdrant, startFakeQdrant } from '../fixtures/fake-qdrant.js';
import { startFakeEndpoint, refuse } from '../fixtures/fake-endpoint.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createDatabase } from '../support/postgres.js';
import { insertTools, ROWS_ONLY } from '../support/rows.js';
import { Catalogue } from '@app/catalogue';

interface Found {
  readonly tools: {
    readonly id: string;
    readonly db_id: number;
    readonly name: string;
    readonly score: number;
    readonly classified_by: string | null;
    readonly input_schema?: object;
  }[];
  readonly matched_skills: { readonly id: string }[];
  readonly metadata: {
    readonly strategy_used: string;
    readonly servers_searched: number;
    readonly external_tools_count: number;
    readonly excluded_servers: readonly object[];
    readonly degraded: boolean;
    readonly degraded_reason: string | null;
  };
}

const github = [
  { name: 'create_issue', description: 'Create a new GitHub issue' },
  { name: 'list_commits', description: 'List commits of a branch of a repository' },
  { name: 'merge_pull_request', description: 'Merge a pull request' },
];
const weather = [
  { name: 'get_forecast', description: 'Weather forecast for a city' },
  { name: 'search', description: 'Search for weather stations' },
];
const shop = [{ name: 'search', description: 'Search for products in the shop' }];

async function search(service: TestApp, body: object): Promise<{ status: number; found: Found }> {
  const response = await fetch(`${service.url}/api/v1/search`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.tokens.read}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, found: (await response.json()) as Found };
}

const names = ({ found }: { found: Found }): string[] => found.tools.map((tool) => tool.name);

async function setStatus(service: TestApp, server: string, status: string): Promise<void> {
  await service.app
    .get(Database, { strict: false })
    .direct.query('UPDATE mcp.external_servers SET status = $2 WHERE name = $1', [server, status]);
  await service.app.get(Catalogue, { strict: false }).reloadServers();
}

describe('searching tools', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp(ROWS_ONLY);
    await insertTools(service.app, 'github', github);
    await insertTools(service.app, 'weather', weather);
    await insertTools(service.app, 'shop', shop);
    await eventually(async () => {
      const { found } = await search(service, { query: 'open an issue' });
      expect(found.tools[0]?.name).toBe('github.create_issue');
    });
    // Classification changes what search says of a tool, so answers are compared when it is done.
    await eventually(async () => {
      const { found } = await search(service, { query: 'search', tool_threshold: 0, limit: 100 });
      const classified = found.tools.filter((tool) => tool.classified_by !== null);
      expect(classified).toHaveLength(github.length + weather.length + shop.length);
    });
  });
  afterAll(() => service.close());

  it('finds by meaning and answers as the contract says', async () => {
    const { status, found } = await search(service, {
      query: 'create a GitHub issue',
      item_type: 'tool',
      include_external: true,
      server_filter: null,
      limit: 10,
      skill_threshold: 0.4,
      tool_threshold: 0.3,
      include_schemas: true,
      strategy: 'hierarchical',
    });
    expect(status).toBe(200);
    const [best] = found.tools;
    expect(best).toMatchObject({
      id: String(best?.db_id),
      type: 'tool',
      name: 'github.create_issue',
      original_name: 'create_issue',
      source_server: { name: 'github', status: 'CONNECTED' },
      input_schema: { type: 'object' },
    });
    expect(found.metadata).toMatchObject({
      servers_searched: 3,
      external_tools_count: 6,
      excluded_servers: [],
      degraded: false,
    });
  });

  it('gives the same answer to the same request, ordered by score, scores within 0…1', async () => {
    const request = { query: 'search for something', tool_threshold: 0, limit: 100 };
    const [first, second] = [await search(service, request), await search(service, request)];
    expect(first.found.tools).toEqual(second.found.tools);
    const scores = first.found.tools.map((tool) => tool.score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(Math.min(...scores)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...scores)).toBeLessThanOrEqual(1);
  });

  it('shows tools of one name with their servers (BR-009)', async () => {
    const found = names(await search(service, { query: 'search' }));
    expect(found).toEqual(expect.arrayContaining(['weather.search', 'shop.search']));
  });

  it('searches only the named servers, and reports unknown ones', async () => {
    const answer = await search(service, { query: 'search', server_filter: ['shop', 'missing'] });
    expect(names(answer)).toEqual(['shop.search']);
    expect(answer.found.metadata.excluded_servers).toEqual([
      {
        name: 'missing',
        status: 'UNKNOWN',
        tool_count: 0,
        reason: 'No server of this name is registered',
      },
    ]);
  });

  it('excludes tools of unavailable servers, says so, and finds them after recovery', async () => {
    await setStatus(service, 'weather', 'ERROR');
    const without = await search(service, { query: 'weather forecast' });
    expect(names(without).filter((name) => name.startsWith('weather.'))).toEqual([]);
    expect(without.found.metadata.excluded_servers).toEqual([
      expect.objectContaining({ name: 'weather', status: 'ERROR' }),
    ]);
    await setStatus(service, 'weather', 'DEGRADED');
    expect(names(await search(service, { query: 'weather forecast' }))[0]).toBe(
      'weather.get_forecast',
    );
  });

  it('finds only the tools of the aggregator itself without external ones', async () => {
    const question = { query: 'ask many servers one question', include_external: false };
    expect(await search(service, question)).toMatchObject({
      found: {
        tools: [
          {
            name: 'mcp__proxy__aggregator__query',
            original_name: 'mcp__proxy__aggregator__query',
            source_server: null,
            input_schema: { required: ['query'] },
          },
        ],
        metadata: { servers_searched: 0, external_tools_count: 0 },
      },
    });
    expect(names(await search(service, { ...question, include_external: true }))).toContain(
      'mcp__proxy__aggregator__query',
    );
  });

  it('explains how to call a tool of the aggregator itself', async () => {
    const answer = await fetch(`${service.url}/api/v1/tools/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mcp__proxy__aggregator__query', arguments: {} }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error_code: 'TOOL_NOT_ROUTED',
      detail: expect.stringContaining('POST /api/v1/aggregator/query') as unknown,
    });
  });

  it('omits schemas on request, and results below the threshold', async () => {
    const { found } = await search(service, {
      query: 'weather forecast',
      include_schemas: false,
      tool_threshold: 0.9,
    });
    expect(found.tools.map((tool) => tool.name)).toEqual(['weather.get_forecast']);
    expect(found.tools[0]).not.toHaveProperty('input_schema');
  });

  it('falls back to direct search when no skill matches, and reports it', async () => {
    const request = { query: 'weather forecast', skill_threshold: 1, tool_threshold: 0 };
    const { found } = await search(service, { ...request, strategy: 'direct' });
    expect(found.metadata.strategy_used).toBe('direct');
  });

  it.each([
    [{ query: '' }, 'query'],
    [{ query: ' \n ' }, 'query'],
    [{ query: 'x'.repeat(2_001) }, 'query'],
    [{ query: 7 }, 'query'],
    [{}, 'query'],
    [{ query: 'a', limit: 0 }, 'limit'],
    [{ query: 'a', limit: 1.5 }, 'limit'],
    [{ query: 'a', strategy: 'best' }, 'strategy'],
    [{ query: 'a', item_type: 'prompt' }, 'item_type'],
    [{ query: 'a', server_filter: [] }, 'server_filter'],
    [{ query: 'a', server_filter: [1] }, 'server_filter'],
    [{ query: 'a', tool_threshold: 1.1 }, 'tool_threshold'],
    [{ query: 'a', skill_threshold: '1' }, 'skill_threshold'],
    [{ query: 'a', surprise: true }, 'surprise'],
  ])('refuses a bad request and names the field (%#)', async (body, field) => {
    const { status, found } = await search(service, body);
    expect(status).toBe(422);
    expect(found).toMatchObject({
      error_code: 'VALIDATION_ERROR',
      detail: [{ loc: expect.arrayContaining(['body', field]) as unknown }],
    });
  });

  it.each(['必应搜索', 'ช่วยหา', '🙂', '"; DROP TABLE mcp.tools; --', 'a'.repeat(2_000), '\\', '%'])(
    'answers an unusual query as any other (%#)',
    async (query) => {
      expect((await search(service, { query })).status).toBe(200);
    },
  );

  it('lists all tools by page and filter, and shows one', async () => {
    const get = async (
      path: string,
    ): Promise<{ status: number; body: Record<string, unknown> }> => {
      const headers = { authorization: `Bearer ${service.tokens.read}` };
      const response = await fetch(`${service.url}/api/v1/aggregator/tools${path}`, { headers });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const page = await get('?limit=2&offset=1');
    expect(page.body).toMatchObject({ total: 6, limit: 2, offset: 1 });
    const [tool] = page.body['tools'] as { id: string; name: string }[];
    expect(tool?.name).toBe('github.list_commits');
    expect((await get('?server=shop')).body).toMatchObject({ total: 1 });
    expect((await get(`/${tool?.id}`)).body).toMatchObject({
      name: 'github.list_commits',
      input_schema: { type: 'object' },
    });
    expect((await get('/0')).body).toMatchObject({ error_code: 'TOOL_NOT_FOUND' });
    expect((await get('?limit=501')).status).toBe(422);
  });
});

describe('searching with Qdrant and a remote model', () => {
  let qdrant: FakeQdrant;
  let service: TestApp;
  const endpoint = startFakeEndpoint(({ body }) => ({
    data: (body as { input: string[] }).input.map((text, index) => ({
      index,
      embedding: [...['issue', 'weather', 'shop'].map((word) => text.split(word).length - 1), 0.1],
    })),
  }));

  beforeEach(async () => {
    qdrant = await startFakeQdrant();
    service = await startApp({
      ...ROWS_ONLY,
      QDRANT_URL: qdrant.url,
      EMBEDDINGS_URL: `${(await endpoint).url}/v1`,
      EMBEDDINGS_MODEL: 'stand-in',
    });
  });
  afterEach(async () => {
    await service.close();
    await qdrant.close();
    expect(qdrant.refused).toEqual([]);
  });
  afterAll(async () => (await endpoint).close());

  const payloadsIn = (collection: string) =>
    [...(qdrant.collections.get(collection)?.points.values() ?? [])].map(({ payload }) => payload);
  const points = (): number =>
    payloadsIn('mcp_unified_search').filter((payload) => payload['is_external']).length;

  it('writes the payload of the contract, and finds through it', async () => {
    await insertTools(service.app, 'github', github);
    await eventually(() => expect(points()).toBe(3));
    expect(payloadsIn('mcp_unified_search')).toContainEqual(
      expect.objectContaining({
        name: 'github.create_issue',
        original_name: 'create_issue',
        source_server_name: 'github',
        is_external: true,
      }),
    );
    await eventually(async () => {
      const answer = await search(service, { query: 'issue' });
      expect(names(answer)[0]).toBe('github.create_issue');
      expect(answer.found.metadata.degraded).toBe(false);
    });
  });

  it('falls back to the local index while Qdrant is down, says so, and drains the backlog later', async () => {
    await insertTools(service.app, 'github', github);
    await eventually(() => expect(points()).toBe(3));
    qdrant.down = true;
    await insertTools(service.app, 'shop', shop);
    const during = await search(service, { query: 'search for products' });
    expect(names(during)[0]).toBe('shop.search');
    expect(during.found.metadata).toMatchObject({
      degraded: true,
      degraded_reason: expect.stringContaining('Qdrant answered HTTP 503') as unknown,
    });
    qdrant.down = false;
    await eventually(() => expect(points()).toBe(4));
    await eventually(async () => {
      const after = await search(service, { query: 'search for products' });
      expect(after.found.metadata.degraded).toBe(false);
    });
  });

  it('falls back to the local model while the remote one refuses the key', async () => {
    const working = (await endpoint).answer;
    await insertTools(service.app, 'github', github);
    await eventually(() => expect(points()).toBe(3));
    (await endpoint).answer = refuse(401);
    const answer = await search(service, { query: 'never asked before: issue' });
    (await endpoint).answer = working;
    expect(names(answer)[0]).toBe('github.create_issue');
    expect(answer.found.metadata.degraded_reason).toMatch(/HTTP 401/);
  });

  it('uses the previous model until the vectors of a new one are complete', async () => {
    const shared = { ...ROWS_ONLY, DATABASE_URL: await createDatabase() };
    const { url, answer: working } = await endpoint;
    const embeddedBy = (model: string) =>
      startApp({ ...shared, EMBEDDINGS_URL: `${url}/v1`, EMBEDDINGS_MODEL: model });
    const askedFor = async (text: string): Promise<string[]> =>
      (await endpoint).requests
        .map(({ body }) => body as { model: string; input: string[] })
        .filter(({ input }) => input[0] === text)
        .map(({ model }) => model);
    const before = await embeddedBy('stand-in');
    await insertTools(before.app, 'github', github);
    await eventually(async () => {
      expect((await search(before, { query: 'issue' })).found.metadata.degraded).toBe(false);
    });
    await before.close();

    let isSlow = true;
    (await endpoint).answer = (request, response) =>
      isSlow && (request.body as { model: string }).model === 'another'
        ? refuse(503)(request, response)
        : working(request, response);
    const after = await embeddedBy('another');
    try {
      await eventually(async () => {
        const during = await search(after, { query: 'an issue' });
        expect(names(during)[0]).toBe('github.create_issue');
        expect(during.found.metadata.degraded_reason).toMatch(/another cannot be used/);
        expect(await askedFor('an issue')).toEqual(['stand-in']);
      });
      isSlow = false;
      await eventually(async () => {
        const { found } = await search(after, { query: 'a new issue' });
        expect(found.metadata.degraded).toBe(false);
        expect(await askedFor('a new issue')).toContain('another');
      });
    } finally {
      (await endpoint).answer = working;
      await after.close();
    }
  });

  it('removes the points of a removed server, and takes its tools from the skills', async () => {
    const toolsInSkills = (): number =>
      payloadsIn('mcp_skills').reduce((sum, payload) => sum + Number(payload['tool_count']), 0);
    await insertTools(service.app, 'github', github);
    await insertTools(service.app, 'shop', shop);
    await eventually(() => expect(points()).toBe(4));
    /** As many as the tools have skills, once all of them are classified. */
    const expectAllInSkills = async (): Promise<void> => {
      const listed = await fetch(`${service.url}/api/v1/aggregator/tools`, { headers });
      const { tools } = (await listed.json()) as {
        tools: { skill_ids: string[]; is_classified: boolean }[];
      };
      expect(tools.every((tool) => tool.is_classified)).toBe(true);
      const skills = tools.flatMap((tool) => tool.skill_ids);
      expect(skills.length).toBeGreaterThan(0);
      expect(toolsInSkills()).toBe(skills.length);
    };
    const headers = { authorization: `Bearer ${service.token}` };
    await eventually(expectAllInSkills);
    expect(payloadsIn('mcp_skills')).toHaveLength(28);
    const before = toolsInSkills();
    const listed = await fetch(`${service.url}/api/v1/aggregator/servers`, { headers });
    const { servers } = (await listed.json()) as { servers: { id: string; name: string }[] };
    const id = servers.find((server) => server.name === 'github')?.id;
    await fetch(`${service.url}/api/v1/aggregator/servers/${id}`, { method: 'DELETE', headers });
    await eventually(async () => {
      expect(points()).toBe(1);
      await expectAllInSkills();
      expect(toolsInSkills()).toBeLessThan(before);
    });
  });
});
