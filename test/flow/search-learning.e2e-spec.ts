import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Database } from '@app/platform';
import { z } from 'zod';
import { Api } from '../support/api.js';
import { startApp, stopIntervals, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const TOOLS = [
  'archive_ticket',
  'file_report',
  'run_playbook',
  'reserve_room',
  'order_lunch',
  'print_label',
];
const ASKED = 'an angry customer is shouting at us';
const ASKED_LATER = 'the client shouts and is very angry';
/** With a word of the tool: models are not shown what fits too little. */
const ASKED_BY_MODEL = `${ASKED} about a ticket`;
const UNLIKE = 'reserve a room for the meeting';
const TOOL = 'desk.archive_ticket';

const found = z.object({
  tools: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      explanation: z.object({ shares: z.object({ learnt: z.number() }) }).optional(),
    }),
  ),
  metadata: z.object({ search_id: z.string().nullable() }),
});
const mcpAnswer = z.object({
  structuredContent: z.object({
    search_id: z.string(),
    tools: z.array(z.object({ name: z.string() })),
  }),
});

async function startWithDesk(settings: Record<string, string> = {}): Promise<TestApp> {
  const service = await startApp(settings);
  await new Api(service).register({
    name: 'desk',
    transport_type: 'STDIO',
    connection_config: {
      command: process.execPath,
      args: [fixture('named-tools.mjs'), ...TOOLS.map((name) => `${name} subject`)],
    },
  });
  await eventually(async () => {
    expect((await call(service, service.tokens.call)).status).toBe(200);
    const { tools } = await search(service, 'archive a ticket');
    expect(tools.map(({ name }) => name)).toContain(TOOL);
  });
  return service;
}

async function search({ url, token }: TestApp, query: string, more: object = {}, as = token) {
  const body = JSON.stringify({ query, explain: true, tool_threshold: 0, limit: 20, ...more });
  const { status, body: answer } = await send(url, '/api/v1/search', {
    method: 'POST',
    token: as,
    body,
  });
  expect(status).toBe(200);
  return found.parse(answer);
}

const call = ({ url }: TestApp, token: string, searchId?: string, name = TOOL) =>
  send(url, '/api/v1/tools/call', {
    method: 'POST',
    token,
    body: JSON.stringify({ name, arguments: { subject: 'x' }, search_id: searchId ?? null }),
  });

/** The share of the score of the tool that earlier uses give it. */
async function learnt(service: TestApp, query = ASKED_LATER, more: object = {}): Promise<number> {
  const { tools } = await search(service, query, more);
  return tools.find(({ name }) => name === TOOL)?.explanation?.shares.learnt ?? 0;
}

async function use(service: TestApp, times = 1, token = service.tokens.call, more: object = {}) {
  for (let i = 0; i < times; i++) {
    const { metadata } = await search(service, ASKED, more, token);
    expect((await call(service, token, metadata.search_id ?? '')).status).toBe(200);
  }
}

const rowsOf = ({ app }: TestApp) =>
  app
    .get(Database, { strict: false })
    .direct.query<{ uses: number; caller: string }[]>(
      'SELECT * FROM mcp.tool_uses ORDER BY caller',
    );

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('search that learns from use, on %s', (_, settings) => {
  let service: TestApp;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    service = await startWithDesk(settings);
  });
  beforeEach(async () => {
    const { tools } = await search(service, 'archive a ticket');
    const id = tools.find(({ name }) => name === TOOL)?.id ?? '';
    const reset = await new Api(service).call('DELETE', `/tools/${id}/learning`);
    expect(reset.status).toBe(204);
    expect(await learnt(service)).toBe(0);
  });
  afterEach(() => Promise.all(closing.splice(0).map((close) => close())));
  afterAll(() => service.close());

  async function legacyClient(): Promise<LegacySdk> {
    const client = new LegacySdk({ name: 'old', version: '1' });
    const transport = new LegacyTransport(new URL(`${service.url}/mcp/search`), {
      requestInit: { headers: { authorization: `Bearer ${service.tokens.call}` } },
    });
    // The SDK's own types conflict with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
    closing.push(() => client.close());
    return client;
  }

  async function modernClient(path = '/mcp/search'): Promise<ModernSdk> {
    const client = new ModernSdk(
      { name: 'new', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    );
    const headers = { authorization: `Bearer ${service.tokens.call}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.url}${path}`), {
        requestInit: { headers },
      }),
    );
    closing.push(() => client.close());
    expect(client.getProtocolEra()).toBe('modern');
    return client;
  }

  async function searchedBy(client: LegacySdk | ModernSdk): Promise<string> {
    const answer = await client.callTool({
      name: 'search_tools',
      arguments: { query: ASKED_BY_MODEL },
    });
    const { search_id: id, tools } = mcpAnswer.parse(answer).structuredContent;
    expect(tools.length).toBeGreaterThan(0);
    return id;
  }

  const called = { name: 'desk__archive_ticket', arguments: { subject: 'x' } };

  it('finds a tool by words that none of its texts has, after it was used for such a query', async () => {
    const before = await search(service, ASKED_LATER);
    expect(before.tools[0]?.name).not.toBe(TOOL);
    await use(service, 5);
    await eventually(async () => {
      const { tools } = await search(service, ASKED_LATER);
      expect(tools[0]?.name).toBe(TOOL);
      expect(tools[0]?.explanation?.shares.learnt).toBeGreaterThan(0);
    });
    expect(await learnt(service, UNLIKE)).toBe(0);
  });

  it('learns from a client with a session, whose call follows its search', async () => {
    const client = await legacyClient();
    await searchedBy(client);
    await client.callTool({ name: 'call_tool', arguments: called });
    await eventually(async () => expect(await learnt(service)).toBeGreaterThan(0));
  });

  it('learns from a client without a session that gives the search_id with its call', async () => {
    const client = await modernClient();
    const id = await searchedBy(client);
    await client.callTool({ name: 'call_tool', arguments: { ...called, search_id: id } });
    await eventually(async () => expect(await learnt(service)).toBeGreaterThan(0));
  });

  it('learns from a call on another endpoint that names the search in its metadata', async () => {
    const { metadata } = await search(service, ASKED, {}, service.tokens.call);
    const client = new LegacySdk({ name: 'old', version: '1' });
    const transport = new LegacyTransport(new URL(`${service.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${service.tokens.call}` } },
    });
    await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
    closing.push(() => client.close());
    await client.callTool({ ...called, _meta: { 'switchboard/search_id': metadata.search_id } });
    await eventually(async () => expect(await learnt(service)).toBeGreaterThan(0));
  });

  it('learns nothing from calls that follow no search of their caller', async () => {
    const { metadata } = await search(service, ASKED, {}, service.tokens.call);
    expect((await call(service, service.tokens.admin, metadata.search_id ?? '')).status).toBe(200);
    expect((await call(service, service.tokens.call, 'no-such-searc')).status).toBe(200);
    expect((await call(service, service.tokens.call)).status).toBe(200);
    const client = await modernClient();
    await searchedBy(client);
    await client.callTool({ name: 'call_tool', arguments: called });
    // What is learnt is stored in order: after this use, nothing of the calls above follows.
    await use(service);
    await eventually(async () => expect(await rowsOf(service)).toHaveLength(1));
    expect(await rowsOf(service)).toMatchObject([{ uses: 1 }]);
  });

  it('counts a tool once for a search, and a caller for five uses at most', async () => {
    const { metadata } = await search(service, ASKED, {}, service.tokens.call);
    for (let i = 0; i < 3; i++) {
      expect((await call(service, service.tokens.call, metadata.search_id ?? '')).status).toBe(200);
    }
    await eventually(async () => expect(await rowsOf(service)).toMatchObject([{ uses: 1 }]));
    await use(service, 8);
    await eventually(async () => expect(await rowsOf(service)).toMatchObject([{ uses: 5 }]));
  });

  it('lets no caller alone undo what several have taught', async () => {
    await use(service, 5, service.tokens.call);
    await use(service, 5, service.tokens.operate);
    await eventually(async () =>
      expect(await rowsOf(service)).toMatchObject([{ uses: 5 }, { uses: 5 }]),
    );
    for (let i = 0; i < 20; i++) {
      const { metadata } = await search(service, 'print a label', {}, service.tokens.admin);
      expect((await call(service, service.tokens.admin, metadata.search_id ?? '')).status).toBe(
        200,
      );
    }
    await eventually(async () =>
      expect(await rowsOf(service)).toMatchObject([{ uses: 5 }, { uses: 5 }, { uses: 5 }]),
    );
    await eventually(async () => {
      const shouted = await search(service, ASKED_LATER);
      expect(shouted.tools[0]?.name).toBe(TOOL);
    });
    const { tools } = await search(service, 'print a label');
    expect(tools[0]?.name).toBe('desk.print_label');
  });

  it('keeps what one view learnt from the others', async () => {
    const api = new Api(service);
    const slug = 'support';
    const rules = [{ effect: 'include', kind: 'any', server: 'desk' }];
    expect((await api.call('POST', '/views', { slug, rules })).status).toBe(201);
    const grant = { view: slug, subject_kind: 'token', subject: 'call', level: 'call' };
    expect((await api.call('POST', '/grants', grant)).status).toBe(201);
    await use(service, 2, service.tokens.call, { view: slug });
    await eventually(async () =>
      expect(await learnt(service, ASKED_LATER, { view: slug })).toBeGreaterThan(0),
    );
    expect(await learnt(service)).toBe(0);
    expect((await api.call('DELETE', `/views/${slug}`)).status).toBe(204);
    expect(await rowsOf(service)).toEqual([]);
  });

  it('learns nothing in a view from a caller who may only read there, whatever it may call elsewhere', async () => {
    const api = new Api(service);
    const slug = 'watched';
    const rules = [{ effect: 'include', kind: 'any', server: 'desk' }];
    expect((await api.call('POST', '/views', { slug, rules })).status).toBe(201);
    const grant = { view: slug, subject_kind: 'token', subject: 'call', level: 'read' };
    expect((await api.call('POST', '/grants', grant)).status).toBe(201);
    const { metadata } = await search(service, ASKED, { view: slug }, service.tokens.call);
    expect(metadata.search_id).toBeNull();
    const client = await modernClient(`/mcp/views/${slug}/search`);
    const asked = { name: 'search_tools', arguments: { query: ASKED_BY_MODEL } };
    const { structuredContent } = await client.callTool(asked);
    expect(JSON.stringify(structuredContent)).toContain('archive_ticket');
    expect(structuredContent).not.toHaveProperty('search_id');
    expect((await api.call('DELETE', `/views/${slug}`)).status).toBe(204);
  });

  it('forgets the uses of a tool when an operator says so, and audits it', async () => {
    await use(service, 2);
    await eventually(async () => expect(await learnt(service)).toBeGreaterThan(0));
    const { tools } = await search(service, ASKED);
    const id = tools.find(({ name }) => name === TOOL)?.id ?? '';
    const path = `/api/v1/aggregator/tools/${id}/learning`;
    const as = (token: string) => send(service.url, path, { method: 'DELETE', token });
    expect((await as(service.tokens.call)).status).toBe(403);
    expect((await as(service.tokens.operate)).status).toBe(204);
    expect(await learnt(service)).toBe(0);
    expect(await rowsOf(service)).toEqual([]);
    const { body } = await new Api(service).call('GET', '/audit?event=tool.learning_reset');
    expect(JSON.stringify(body)).toContain(TOOL);
  });

  it('keeps no text of a query, in no row', async () => {
    const canary = 'zebra';
    const { metadata } = await search(service, `${ASKED} ${canary}`, {}, service.tokens.call);
    await call(service, service.tokens.call, metadata.search_id ?? '');
    await eventually(async () => expect(await rowsOf(service)).toHaveLength(1));
    const { direct } = service.app.get(Database, { strict: false });
    for (const table of ['tool_uses', 'audit_log']) {
      const rows = await direct.query<object[]>(`SELECT t::text FROM mcp.${table} AS t`);
      expect(JSON.stringify(rows)).not.toContain(canary);
      expect(JSON.stringify(rows)).not.toContain(Buffer.from(canary).toString('hex'));
    }
  });
});

describe('search that learns from use, on two replicas', () => {
  let one: TestApp;
  let other: TestApp;

  beforeAll(async () => {
    const settings = { DATABASE_URL: await createDatabase() };
    one = await startWithDesk(settings);
    other = await startApp(settings);
    await eventually(async () => expect((await call(other, other.token)).status).toBe(200));
    // Only what the replicas tell each other is left.
    for (const replica of [one, other]) stopIntervals(replica);
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  it('gives both the same answer, wherever search and call were sent', async () => {
    const { metadata } = await search(one, ASKED, {}, one.tokens.call);
    // The tokens of this test differ by replica; their names, which rows are kept by, do not.
    expect((await call(other, other.tokens.call, metadata.search_id ?? '')).status).toBe(200);
    await eventually(async () => {
      expect(await learnt(one)).toBeGreaterThan(0);
      expect(await learnt(other)).toBe(await learnt(one));
    });
  });

  it('forgets at both', async () => {
    const { tools } = await search(one, ASKED);
    const id = tools.find(({ name }) => name === TOOL)?.id ?? '';
    expect((await new Api(other).call('DELETE', `/tools/${id}/learning`)).status).toBe(204);
    expect(await learnt(other)).toBe(0);
    await eventually(async () => expect(await learnt(one)).toBe(0));
  });
});

describe('search that does not learn', () => {
  it('gives no search_id, and takes one without effect', async () => {
    const service = await startWithDesk({ MCP_AGGREGATOR_SEARCH_LEARNING: 'false' });
    try {
      expect((await search(service, ASKED)).metadata.search_id).toBeNull();
      expect((await call(service, service.tokens.call, 'abcdefghijkl')).status).toBe(200);
      expect(await rowsOf(service)).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
