import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Database, type JsonObject, tokensOf } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture, type HttpPeer, httpPeer, stdioPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const BUDGET = 3_000;
const SETTINGS = { MCP_AGGREGATOR_RESULT_BUDGET_TOKENS: String(BUDGET) };
const PROSE = 'Each sentence says something. '.repeat(2_100).slice(0, 62_000);
const NEXT = 'switchboard/next';

const ADA = {
  token: 'a-token-of-ada-only',
  tokens: {
    read: 'a-token-of-ada-only',
    call: 'a-token-of-ada-only',
    operate: 'a-token-of-ada-only',
    admin: 'a-token-of-ada-only',
  },
};

type AnySdk = Pick<LegacySdk, 'callTool' | 'readResource' | 'listTools' | 'close'>;
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly uri?: string;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

async function legacy(url: string, token: string): Promise<LegacySdk> {
  const client = new LegacySdk({ name: 'old', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new LegacyTransport(new URL(url), { requestInit });
  // The SDK's own types conflict with exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
  closing.push(() => client.close());
  return client;
}

async function modern(url: string, token: string): Promise<ModernSdk> {
  const client = new ModernSdk(
    { name: 'new', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  closing.push(() => client.close());
  return client;
}

const clients = {
  legacy: async (url: string, token: string): Promise<AnySdk> => legacy(url, token),
  modern: async (url: string, token: string): Promise<AnySdk> =>
    (await modern(url, token)) as unknown as AnySdk,
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const blocksOf = (result: unknown): Block[] => (result as { content: Block[] }).content;

function linkIn(result: unknown): string {
  const link = blocksOf(result).find(({ type }) => type === 'resource_link');
  if (link?.uri === undefined) throw new Error(`no link in ${JSON.stringify(result)}`);
  return link.uri;
}

/** Follows the links from page to page. */
async function wholeOf(client: AnySdk, first: string): Promise<string> {
  let text = '';
  for (let uri: unknown = first; typeof uri === 'string';) {
    const [page] = (await client.readResource({ uri })).contents as [
      { uri: string; text: string; _meta: JsonObject },
    ];
    expect(page.uri).toBe(uri);
    expect(tokensOf(page.text)).toBeLessThanOrEqual(BUDGET);
    text += page.text;
    uri = page._meta[NEXT];
  }
  return text;
}

async function register(app: TestApp, name: string, config: object): Promise<void> {
  await new Api(app).register({ name, ...config });
  await eventually(async () => {
    expect((await callRest(app, `${name}.small`)).status).toBe(200);
  });
}

const overStdio = (): object => {
  const { command, args } = stdioPeer(fixture('large-results.mjs'), ['stdio']);
  return { transport_type: 'STDIO', connection_config: { command, args } };
};

async function rest(
  app: TestApp,
  method: string,
  path: string,
  body?: object,
  token: string = app.tokens.call,
): Promise<{ status: number; body: JsonObject }> {
  const answer = await fetch(app.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as JsonObject) };
}

const callRest = (app: TestApp, name: string, token?: string) =>
  rest(app, 'POST', '/api/v1/tools/call', { name }, token);

describe('results that exceed the budget', () => {
  let app: TestApp;
  let peer: HttpPeer;

  beforeAll(async () => {
    peer = await httpPeer('large-results.mjs', ['http']);
    app = await startApp(SETTINGS);
    await register(app, 'stdio', overStdio());
    await register(app, 'web', {
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
  }, 120_000);
  afterAll(async () => {
    await app.close();
    await peer.stop();
  });

  const connect = (era: 'legacy' | 'modern', path = '/mcp', token = app.tokens.call) =>
    clients[era](app.url + path, token);

  describe.each(['legacy', 'modern'] as const)('for a client of the %s era', (era) => {
    it.each<[string, (tool: string, server: string) => [string, object]]>([
      ['/mcp', (tool, server) => [`${server}__${tool}`, {}]],
      ['/mcp/search', (tool, server) => ['call_tool', { name: `${server}__${tool}` }]],
      ['/mcp/servers/', (tool) => [tool, {}]],
    ])('at %s come within it, and are read back whole byte for byte', async (path, named) => {
      for (const server of ['stdio', 'web']) {
        const client = await connect(era, path.endsWith('/') ? path + server : path);
        const [name, args] = named('text', server);
        const result = await client.callTool({ name, arguments: { ...args } });
        const [first, notice] = blocksOf(result);
        expect(first?.text).toMatch(/^Each sentence says something\. .*characters left out/s);
        expect(notice?.text).toMatch(/^\[The tool was executed\..*with resources\/read/);
        expect(tokensOf(JSON.stringify(blocksOf(result)))).toBeLessThanOrEqual(BUDGET);
        expect(await wholeOf(client, linkIn(result))).toBe(
          JSON.stringify({ content: [{ type: 'text', text: PROSE }] }),
        );
      }
    });

    it.each(['unicode', 'json', 'failed'])('come within it for a result of %s', async (tool) => {
      const client = await connect(era);
      const result = await client.callTool({ name: `web__${tool}`, arguments: {} });
      const { body } = await rest(app, 'POST', '/api/v1/tools/call', { name: `web.${tool}` });
      expect(result.isError ?? false).toBe(tool === 'failed');
      expect(body['isError']).toBe(tool === 'failed');
      expect(tokensOf(JSON.stringify(blocksOf(result)))).toBeLessThanOrEqual(BUDGET);
      const whole = JSON.parse(await wholeOf(client, linkIn(result))) as JsonObject;
      const [first] = whole['content'] as { text: string }[];
      expect(first?.text.length).toBeGreaterThan(4 * BUDGET);
    });

    it('keep structured content valid against the output schema that the client checks', async () => {
      const client = await connect(era);
      await client.listTools();
      const result = await client.callTool({ name: 'web__records', arguments: {} });
      const { records } = result.structuredContent as { records: unknown[] };
      expect(records).toContainEqual({ id: 0, name: 'record 0' });
      expect(records).toContainEqual({ id: 1_999, name: 'record 1999' });
      expect(records.length).toBeLessThan(2_000);
      expect(result.isError).toBe(false);
    });

    it('reach a client also without structured content that cannot be shortened', async () => {
      const client = await connect(era);
      await client.listTools();
      const result = await client.callTool({ name: 'web__rigid', arguments: {} });
      expect(result.structuredContent).toBeUndefined();
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result)).toContain('valid against the output schema');
    });

    it('are not read by another user, who is answered as for an id that does not exist', async () => {
      const [mine, other] = [await connect(era), await connect(era, '/mcp', app.tokens.admin)];
      const uri = linkIn(await mine.callTool({ name: 'web__text', arguments: {} }));
      const missing = `switchboard://results/${randomUUID()}`;
      const errorOf = async (client: AnySdk, uri: string): Promise<unknown> => {
        const error: unknown = await client
          .readResource({ uri })
          .catch((thrown: unknown) => thrown);
        const { code, message, data } = error as { code: number; message: string; data: unknown };
        return JSON.parse(JSON.stringify({ code, message, data }).replaceAll(uri, 'URI'));
      };
      const refused = await errorOf(mine, missing);
      expect(refused).toMatchObject({ message: expect.stringContaining('Resource not found') });
      expect(await errorOf(other, uri)).toEqual(refused);
      expect(await errorOf(mine, `${uri}?page=99`)).toEqual(refused);
      expect(await wholeOf(mine, uri)).toContain('Each sentence');
    });

    it('leave small results as they are', async () => {
      const client = await connect(era);
      const result = await client.callTool({ name: 'stdio__small', arguments: {} });
      expect(result).toMatchObject({
        content: [{ type: 'text', text: 'small' }],
        _meta: { 'some/key': [1, 2] },
      });
    });
  });

  it('announce that resources can be read, also where a server has none', async () => {
    for (const path of ['/mcp', '/mcp/search', '/mcp/servers/stdio']) {
      const client = await legacy(app.url + path, app.tokens.call);
      expect(client.getServerCapabilities()).toMatchObject({ resources: expect.any(Object) });
      expect((await client.listResources()).resources).toEqual([]);
      expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
      const uri = `switchboard://results/${randomUUID()}`;
      await expect(client.readResource({ uri })).rejects.toThrow('Resource not found');
    }
  });

  it('come without a link to a client of a revision without links', async () => {
    const headers = {
      authorization: `Bearer ${app.tokens.call}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const post = (message: object, session?: string) =>
      fetch(`${app.url}/mcp`, {
        method: 'POST',
        headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      });
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} };
    const opened = await post({ method: 'initialize', params });
    const session = opened.headers.get('mcp-session-id') ?? '';
    const call = { method: 'tools/call', params: { name: 'web__text', arguments: {} } };
    const text = await (await post(call, session)).text();
    expect(text).toContain('switchboard://results/');
    expect(text).not.toContain('resource_link');
  });

  describe('of calls by REST', () => {
    const idIn = (body: JsonObject): string => linkIn(body).split('/').at(-1) ?? '';

    it('come within it, and are read back whole', async () => {
      const { body } = await callRest(app, 'stdio.text');
      expect(tokensOf(JSON.stringify(body['content']))).toBeLessThanOrEqual(BUDGET);
      expect(body['metadata']).toMatchObject({ routed_to: 'stdio' });
      expect(blocksOf(body)[1]?.text).toContain('GET until');
      let whole = '';
      for (let page: unknown = 1; typeof page === 'number';) {
        const found = await rest(
          app,
          'GET',
          `/api/v1/aggregator/results/${idIn(body)}?page=${page}`,
        );
        expect(found.status).toBe(200);
        whole += textOf(found.body['text']);
        page = found.body['next_page'];
      }
      expect(whole).toBe(JSON.stringify({ content: [{ type: 'text', text: PROSE }] }));
    });

    it('are not read by another user, after their time, or beyond their pages', async () => {
      const id = idIn((await callRest(app, 'stdio.text')).body);
      const path = `/api/v1/aggregator/results/${id}`;
      const refusal = {
        status: 404,
        body: expect.objectContaining({ error_code: 'RESULT_NOT_FOUND' }),
      };
      expect(await rest(app, 'GET', path, undefined, app.tokens.admin)).toEqual(refusal);
      expect(await rest(app, 'GET', `${path}?page=1000`)).toEqual(refusal);
      expect(await rest(app, 'GET', '/api/v1/aggregator/results/none')).toEqual(refusal);
      expect((await rest(app, 'GET', path)).status).toBe(200);
      expect((await rest(app, 'GET', `${path}?page=0`)).status).toBe(422);
      expect((await rest(app, 'GET', path, undefined, app.tokens.read)).status).toBe(403);
      await app.app
        .get(Database)
        .direct.query('UPDATE mcp.kept_results SET expires_at = kept_at WHERE id = $1', [id]);
      expect(await rest(app, 'GET', path)).toEqual(refusal);
    });

    it('are not read with a token of the same name that was issued later', async () => {
      const issue = async (): Promise<JsonObject> => {
        const asked = { name: 'temporary', scopes: ['call'] };
        const path = '/api/v1/aggregator/tokens';
        return (await rest(app, 'POST', path, asked, app.token)).body;
      };
      const first = await issue();
      const { body } = await callRest(app, 'stdio.text', textOf(first['token']));
      const path = `/api/v1/aggregator/results/${idIn(body)}`;
      expect((await rest(app, 'GET', path, undefined, textOf(first['token']))).status).toBe(200);
      const revoke = `/api/v1/aggregator/tokens/${textOf(first['id'])}`;
      expect((await rest(app, 'DELETE', revoke, undefined, app.token)).status).toBeLessThan(300);
      const second = await issue();
      expect((await rest(app, 'GET', path, undefined, textOf(second['token']))).status).toBe(404);
    });
  });
});

describe('the embedded database', () => {
  it('keeps results, and a result that it cannot keep says why the rest cannot be read', async () => {
    const app = await startApp({
      ...SETTINGS,
      DATABASE_URL: '',
      MCP_AGGREGATOR_KEPT_RESULT_BYTES: '1048576',
    });
    try {
      await register(app, 'stdio', overStdio());
      const client = await legacy(`${app.url}/mcp`, app.tokens.call);
      const kept = await client.callTool({ name: 'stdio__text', arguments: {} });
      expect(await wholeOf(client, linkIn(kept))).toContain(PROSE);
      // An eighth of the limit is less than this result.
      const large = JSON.stringify(await client.callTool({ name: 'stdio__rigid', arguments: {} }));
      expect(large).toContain('The rest cannot be read, because there is no room for it.');
      expect(large).not.toContain('resource_link');
      const headers = { authorization: `Bearer ${app.tokens.read}` };
      const metrics = await (await fetch(`${app.url}/metrics`, { headers })).text();
      for (const whole of ['kept', 'not_kept']) {
        expect(metrics).toContain(`mcp_aggregator_results_shortened_total{whole="${whole}"} 1`);
      }
    } finally {
      await app.close();
    }
  }, 120_000);
});

describe('without a budget', () => {
  it('results are passed on whole', async () => {
    const app = await startApp();
    try {
      await register(app, 'stdio', overStdio());
      const { body } = await callRest(app, 'stdio.text');
      expect(blocksOf(body)).toEqual([{ type: 'text', text: PROSE }]);
    } finally {
      await app.close();
    }
  }, 120_000);
});

describe('another replica', () => {
  it('reads the pages of a result', async () => {
    const DATABASE_URL = await createDatabase();
    const tokens = { MCP_AGGREGATOR_TOKENS: `ada:admin:${ADA.token}` };
    const settings = { ...SETTINGS, ...tokens, DATABASE_URL };
    const [first, second] = [await startApp(settings), await startApp(settings)];
    try {
      await register({ ...first, ...ADA }, 'stdio', overStdio());
      const caller = await legacy(`${first.url}/mcp`, ADA.token);
      const result = await caller.callTool({ name: 'stdio__text', arguments: {} });
      const reader = await legacy(`${second.url}/mcp/search`, ADA.token);
      expect(await wholeOf(reader, linkIn(result))).toBe(
        JSON.stringify({ content: [{ type: 'text', text: PROSE }] }),
      );
    } finally {
      await second.close();
      await first.close();
    }
  }, 120_000);
});
