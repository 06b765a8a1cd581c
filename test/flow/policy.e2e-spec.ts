import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fileURLToPath } from 'node:url';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { createDatabase } from '../support/postgres.js';

const fixture = fileURLToPath(new URL('../fixtures/items.mjs', import.meta.url));
const CANARY = 'canary-7f3e9d';
const SECRET = 'canary-of-the-environment-51c2';
process.env['ITEMS_TENANT'] = SECRET;

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'p', version: '1' },
  },
});
const accept = { accept: 'application/json, text/event-stream' };

async function registerItems(api: Api, name: string): Promise<string> {
  return api.register({
    name,
    transport_type: 'STDIO',
    connection_config: { command: process.execPath, args: [fixture, name] },
  });
}

async function toolIds(service: TestApp): Promise<Record<string, number>> {
  const { body } = await send(service.url, '/api/v1/aggregator/tools?limit=200', service);
  const { tools } = body as { tools: { id: string; name: string }[] };
  return Object.fromEntries(tools.map(({ id, name }) => [name, Number(id)]));
}

async function connect(service: TestApp, path: string, token: string): Promise<Client> {
  const client = new Client({ name: 'policy', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(path, service.url), { requestInit }),
  );
  return client;
}

const callOver = (
  { url }: TestApp,
  token: string,
  name: string,
  args: object = {},
): Promise<Answer> =>
  send(url, '/api/v1/tools/call', {
    method: 'POST',
    token,
    body: JSON.stringify({ name, arguments: args }),
  });

/** A session of the era with sessions at a path; resolves with the status of a request in it. */
async function session(
  service: TestApp,
  path: string,
  token: string,
): Promise<() => Promise<number>> {
  const begun = await send(service.url, path, {
    method: 'POST',
    token,
    headers: accept,
    body: initialize,
  });
  expect(begun.status).toBe(200);
  const headers = { ...accept, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
  return async () =>
    (
      await send(service.url, path, {
        method: 'POST',
        token,
        headers,
        body: '{"jsonrpc":"2.0","id":2,"method":"ping"}',
      })
    ).status;
}

async function issue(api: Api, body: object): Promise<string> {
  const answer = await api.call('POST', '/tokens', { scopes: ['call'], ...body });
  expect(answer.status).toBe(201);
  return String(answer.body['token']);
}

describe('views, grants and overrides', () => {
  let service: TestApp;
  let api: Api;
  let ids: Record<string, number>;

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    await registerItems(api, 'alpha');
    await registerItems(api, 'beta');
    await eventually(async () => {
      ids = await toolIds(service);
      expect(Object.keys(ids)).toHaveLength(16);
    });
  });
  afterAll(() => service.close());

  const makeView = async (slug: string, rules: object[], grants: object[] = []): Promise<void> => {
    expect(await api.call('POST', '/views', { slug, rules })).toMatchObject({ status: 201 });
    for (const grant of grants) {
      expect(await api.call('POST', '/grants', { view: slug, ...grant })).toMatchObject({
        status: 201,
      });
    }
  };

  const rulesOf = async (slug: string): Promise<object[]> =>
    (await api.call('GET', `/views/${slug}`)).body['rules'] as object[];
  const meOf = async (token: string): Promise<unknown> =>
    (await send(service.url, '/api/v1/aggregator/me', { token })).body;

  describe('an override', () => {
    let token: string;
    beforeAll(async () => {
      await makeView('shaped', [{ effect: 'include', server: 'alpha', kind: 'tool' }]);
      token = await issue(api, { name: 'shaped-bot', view: 'shaped' });
      const set = await api.call('PUT', `/tools/${ids['alpha.find_items']}/override?view=shaped`, {
        name: 'search_stock',
        description: 'Searches the stock',
        hidden_arguments: ['query'],
        preset_arguments: { query: `${CANARY} for \${user.name} of \${ITEMS_TENANT}` },
      });
      expect(set).toMatchObject({ status: 200, body: { has_drifted: false } });
    });

    it('gives the tool another name, description and schema in its view only', async () => {
      const client = await connect(service, '/mcp', token);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toContain('search_stock');
      expect(names).not.toContain('alpha__find_items');
      const shaped = tools.find(({ name }) => name === 'search_stock');
      expect(shaped).toMatchObject({
        description: 'Searches the stock',
        annotations: { readOnlyHint: true },
      });
      expect(shaped?.inputSchema).toEqual({ type: 'object', properties: {} });
      await client.close();
      const whole = await connect(service, '/mcp', service.tokens.call);
      expect((await whole.listTools()).tools.map(({ name }) => name)).toContain(
        'alpha__find_items',
      );
      await whole.close();
    });

    it('fills in preset arguments at the call, and refuses hidden ones', async () => {
      const answer = await callOver(service, token, 'search_stock');
      expect(answer.text).toContain(`${CANARY} for shaped-bot of ${SECRET}`);
      const given = await callOver(service, token, 'search_stock', { query: 'mine' });
      expect(given).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_ERROR' } });
      for (const name of ['alpha.find_items', 'alpha__find_items', 'find_items']) {
        expect(await callOver(service, token, name)).toMatchObject({ status: 404 });
      }
    });

    it('calls the tool under its new name over MCP, and finds and describes it', async () => {
      const client = await connect(service, '/mcp/views/shaped/search', token);
      const called = await client.callTool({
        name: 'call_tool',
        arguments: { name: 'search_stock' },
      });
      expect(JSON.stringify(called)).toContain(CANARY);
      const found = await client.callTool({
        name: 'search_tools',
        arguments: { query: 'search the stock of items' },
      });
      expect(JSON.stringify(found)).toContain('search_stock');
      // By words that only the view shows; those of the server still find it.
      for (const query of ['stock', 'Searches the stock', 'find items']) {
        const answer = await send(service.url, '/api/v1/search', {
          method: 'POST',
          token,
          body: JSON.stringify({ query, limit: 3 }),
        });
        const { tools } = answer.body as { tools: { name: string }[] };
        expect([query, tools[0]?.name]).toEqual([query, 'search_stock']);
      }
      const described = await client.callTool({
        name: 'describe_tool',
        arguments: { name: 'search_stock' },
      });
      expect(JSON.stringify([found, described])).not.toContain(CANARY);
      await client.close();
    });

    it('keeps the tool under its original name on the endpoint of its server, shaped alike', async () => {
      const client = await connect(service, '/mcp/servers/alpha', token);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).toSorted()[7]).toBe('update_item');
      expect(tools.find(({ name }) => name === 'search_stock')?.inputSchema).toEqual({
        type: 'object',
        properties: {},
      });
      const called = await client.callTool({ name: 'search_stock', arguments: {} });
      expect(JSON.stringify(called)).toContain(CANARY);
      await expect(client.listPrompts()).resolves.toMatchObject({ prompts: [] });
      await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow('Prompt not found');
      await expect(client.readResource({ uri: 'alpha://readme' })).rejects.toThrow(
        'Resource not found',
      );
      await client.close();
    });

    it('describes a tool by its name, and shows what its server lists to admins only', async () => {
      const path = '/api/v1/aggregator/tools/search_stock';
      const shaped = await send(service.url, path, { token });
      expect(shaped).toMatchObject({
        status: 200,
        body: {
          description: 'Searches the stock',
          input_schema: { properties: {} },
          output_schema: null,
          annotations: { readOnlyHint: true },
          definition_tokens: expect.any(Number),
          definition_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          listed_definition: null,
        },
      });
      const whole = await api.call('GET', '/tools/alpha.find_items');
      expect(whole).toMatchObject({
        status: 200,
        body: {
          id: String(ids['alpha.find_items']),
          listed_definition: { name: 'find_items', inputSchema: { properties: { query: {} } } },
        },
      });
      expect(await api.call('GET', '/tools/search_stock')).toMatchObject({ status: 404 });
    });

    it('lists every override of a tool with the view that it is for', async () => {
      const path = `/tools/${ids['alpha.find_items']}/overrides`;
      expect(await api.call('GET', path)).toMatchObject({
        status: 200,
        body: { overrides: [{ view: 'shaped', name: 'search_stock' }] },
      });
      const none = await api.call('GET', `/tools/${ids['beta.get_item']}/overrides`);
      expect(none).toMatchObject({ status: 200, body: { overrides: [] } });
      expect(await send(service.url, `/api/v1/aggregator${path}`, { token })).toMatchObject({
        status: 403,
      });
    });

    it('shows preset values to admins in the override itself, and nowhere else', async () => {
      await callOver(service, token, 'search_stock');
      const paths = [
        '/audit?limit=200',
        '/policy/history',
        '/views',
        '/views/shaped',
        '/views/shaped/preview',
        '/grants',
        '/tokens',
        '/tools?limit=200',
        `/tools/${ids['alpha.find_items']}`,
        '/state',
        '/servers',
      ];
      await eventually(async () => {
        const { body } = await api.call('GET', '/audit?limit=200');
        expect(JSON.stringify(body)).toContain('alpha.find_items');
      });
      const texts = await Promise.all(
        paths.map(async (path) => [path, JSON.stringify(await api.call('GET', path))] as const),
      );
      const metrics = await send(service.url, '/metrics', service);
      const openapi = await send(service.url, '/docs/openapi.json', service);
      for (const [path, text] of [
        ...texts,
        ['metrics', metrics.text],
        ['openapi', openapi.text],
      ] as const) {
        expect([path, text.includes(CANARY), text.includes(SECRET)]).toEqual([path, false, false]);
      }
      expect(texts.find(([path]) => path === '/policy/history')?.[1]).toContain('override.set');
      const own = await api.call('GET', `/tools/${ids['alpha.find_items']}/override?view=shaped`);
      expect(JSON.stringify(own.body)).toContain(CANARY);
      expect(JSON.stringify(own.body)).not.toContain(SECRET);
    });

    it.each([
      ['a name of two tools', 'alpha.get_item', { name: 'search_stock' }, 409],
      ['a name that could be of a server', 'alpha.get_item', { name: 'beta__get_item' }, 422],
      [
        'a hidden argument that does not exist',
        'alpha.get_item',
        { hidden_arguments: ['nothing'] },
        422,
      ],
      [
        'a setting of the service',
        'alpha.get_item',
        { preset_arguments: { number: '${MCP_CREDENTIAL_KEY}' } },
        422,
      ],
      [
        'a variable that is not set',
        'alpha.get_item',
        { preset_arguments: { number: '${NOT_SET_ANYWHERE}' } },
        422,
      ],
    ])('is refused for %s', async (_what, tool, body, status) => {
      const answer = await api.call('PUT', `/tools/${ids[tool]}/override?view=shaped`, body);
      expect(answer.status).toBe(status);
    });

    it('is gone when it is removed', async () => {
      const path = `/tools/${ids['beta.get_item']}/override`;
      await api.call('PUT', path, { name: 'everywhere' });
      expect(await callOver(service, service.tokens.call, 'everywhere')).toMatchObject({
        status: 200,
      });
      expect(await api.call('DELETE', path)).toMatchObject({ status: 204 });
      expect(await callOver(service, service.tokens.call, 'everywhere')).toMatchObject({
        status: 404,
      });
      expect(await callOver(service, service.tokens.call, 'beta.get_item')).toMatchObject({
        status: 200,
      });
      expect(await api.call('DELETE', path)).toMatchObject({ status: 404 });
    });
  });

  it('a withdrawn grant stops the next call and ends sessions', async () => {
    await makeView(
      'crew',
      [{ effect: 'include', server: 'alpha' }],
      [{ subject_kind: 'token', subject: 'crew-bot', level: 'call' }],
    );
    const token = await issue(api, { name: 'crew-bot' });
    const ping = await session(service, '/mcp/views/crew', token);
    expect(await ping()).toBe(200);
    const { body } = await api.call('GET', '/grants?view=crew');
    const [grant] = body['grants'] as { id: string }[];
    expect(await api.call('DELETE', `/grants/${grant?.id}`)).toMatchObject({ status: 204 });
    expect(await ping()).toBe(404);
    expect(
      (
        await send(service.url, '/mcp/views/crew', {
          method: 'POST',
          token,
          headers: accept,
          body: initialize,
        })
      ).status,
    ).toBe(404);
    expect(
      (
        await send(service.url, '/mcp/views/missing', {
          method: 'POST',
          token,
          headers: accept,
          body: initialize,
        })
      ).status,
    ).toBe(404);
  });

  it('a level that shrinks ends sessions of the level before', async () => {
    await makeView(
      'levels',
      [{ effect: 'include', kind: 'tool' }],
      [{ subject_kind: 'token', subject: 'level-bot', level: 'call' }],
    );
    const token = await issue(api, { name: 'level-bot' });
    const ping = await session(service, '/mcp/views/levels', token);
    await api.call('POST', '/grants', {
      view: 'levels',
      subject_kind: 'token',
      subject: 'level-bot',
      level: 'call_read_only',
    });
    expect(await ping()).toBe(404);
    const client = await connect(service, '/mcp/views/levels', token);
    const { tools } = await client.listTools();
    expect(
      tools
        .map(({ name }) => name)
        .filter((name) => name.startsWith('alpha'))
        .toSorted(),
    ).toEqual(['alpha__find_items', 'alpha__get_item', 'alpha__list_items']);
    await client.close();
  });

  it('a grant with a limit refuses further calls of the minute', async () => {
    await makeView(
      'slow',
      [{ effect: 'include', kind: 'tool' }],
      [{ subject_kind: 'token', subject: 'slow-bot', level: 'call', calls_per_minute: 1 }],
    );
    const token = await issue(api, { name: 'slow-bot' });
    const ping = await session(service, '/mcp/views/slow', token);
    expect(await ping()).toBe(200);
    const call = (): Promise<Answer> =>
      send(service.url, '/mcp/views/slow', {
        method: 'POST',
        token,
        headers: accept,
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 3,
          method: 'tools/call',
          params: { name: 'alpha__purge' },
        }),
      });
    const statuses = [(await call()).status, (await call()).status, (await call()).status];
    expect(statuses.slice(1)).toContain(429);
  });

  it('a token for a view sees that view at every address, and nothing of the management', async () => {
    await makeView('kiosk', [
      { effect: 'include', server: 'beta', name: 'get_item', kind: 'tool' },
    ]);
    const token = await issue(api, { name: 'kiosk-bot', view: 'kiosk', level: 'call_read_only' });
    for (const path of ['/mcp', '/mcp/views/kiosk', '/mcp/views/another', '/mcp/servers/beta']) {
      const client = await connect(service, path, token);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names.filter((name) => !name.startsWith('mcp__'))).toEqual([
        path === '/mcp/servers/beta' ? 'get_item' : 'beta__get_item',
      ]);
      await client.close();
    }
    const gone = await send(service.url, '/mcp/servers/alpha', {
      method: 'POST',
      token,
      headers: accept,
      body: initialize,
    });
    const never = await send(service.url, '/mcp/servers/never', {
      method: 'POST',
      token,
      headers: accept,
      body: initialize,
    });
    expect([gone.status, gone.text.replaceAll('alpha', '?').length]).toEqual([
      never.status,
      never.text.replaceAll('never', '?').length,
    ]);
    const { body } = await send(service.url, '/docs/openapi.json', service);
    const { paths } = body as { paths: Record<string, { get?: { 'x-required-scope'?: string } }> };
    const reads = Object.entries(paths).filter(
      ([path, { get }]) => get?.['x-required-scope'] === 'read' && !path.includes('{'),
    );
    const open: string[] = [];
    for (const [path] of reads) {
      if ((await send(service.url, path, { token })).status !== 403) open.push(path);
    }
    expect(open.toSorted()).toEqual([
      '/api/v1/aggregator/me',
      '/api/v1/aggregator/tools',
      '/api/v1/aggregator/tools/rows',
      '/api/v1/me/connections',
    ]);
    expect(await meOf(token)).toEqual({
      name: 'kiosk-bot',
      role: 'caller',
      scopes: ['read', 'call'],
      subjects: ['token:kiosk-bot'],
      view: { slug: 'kiosk', level: 'call_read_only' },
      sees_all: false,
    });
    expect(await api.call('DELETE', '/views/kiosk')).toMatchObject({ status: 204 });
    expect(
      (
        await send(service.url, '/mcp', {
          method: 'POST',
          token,
          headers: accept,
          body: initialize,
        })
      ).status,
    ).toBe(403);
    expect((await callOver(service, token, 'beta.get_item')).status).toBe(403);
    expect(await meOf(token)).toMatchObject({ view: { slug: null } });
  });

  it('operators work with every server, and use the tools that are granted to them', async () => {
    const [before] = await rulesOf('default');
    await api.call('PUT', '/views/default', { rules: [{ server: 'alpha', name: 'get_item' }] });
    try {
      const { call, operate } = service.tokens;
      const statuses = async (path: string): Promise<number[]> => [
        (await send(service.url, path, { token: call })).status,
        (await send(service.url, path, { token: operate })).status,
      ];
      expect(await statuses('/api/v1/aggregator/servers')).toEqual([403, 200]);
      expect(await meOf(call)).toMatchObject({ role: 'caller', sees_all: false });
      expect(await meOf(operate)).toMatchObject({ role: 'operator', sees_all: true });
      const tools = await send(service.url, '/api/v1/aggregator/tools', { token: operate });
      expect(tools.body).toMatchObject({ total: 1, tools: [{ name: 'alpha.get_item' }] });
      expect((await callOver(service, operate, 'beta.get_item')).status).toBe(404);

      const why = 'No rule of the view default includes beta.get_item';
      const hidden = `/api/v1/aggregator/tools/${ids['beta.get_item']}`;
      const never = '/api/v1/aggregator/tools/999999999';
      const told = async (token: string, path: string): Promise<string> => {
        const { status, text } = await send(service.url, path, { token });
        expect(status).toBe(404);
        return text.replace(/\b\d{1,9}\b/, '?');
      };
      expect(await told(operate, hidden)).toContain(why);
      expect(await told(call, hidden)).toBe(await told(call, never));
      const called = async (token: string, name: string): Promise<string> =>
        (await callOver(service, token, name)).text.replace(name, '?');
      expect(await called(operate, 'beta.get_item')).toContain(why);
      expect(await called(call, 'beta.get_item')).toBe(await called(call, 'beta.never'));
      const over = async (
        token: string,
        path: string,
        ask: (client: Client) => Promise<unknown>,
      ) => {
        const client = await connect(service, path, token);
        const answer = await ask(client).catch(String);
        await client.close();
        return JSON.stringify(answer);
      };
      for (const [path, ask] of [
        ['/mcp', (name: string) => ({ name: `beta__${name}`, arguments: {} })],
        [
          '/mcp/search',
          (name: string) => ({ name: 'describe_tool', arguments: { name: `beta.${name}` } }),
        ],
      ] as const) {
        const asked = (token: string, name: string) =>
          over(token, path, (client) => client.callTool(ask(name)));
        expect(await asked(operate, 'get_item')).toContain(why);
        expect((await asked(call, 'get_item')).replace('get_item', '?')).toBe(
          (await asked(call, 'never')).replace('never', '?'),
        );
      }
      const initialized = async (token: string, path: string): Promise<string> => {
        const { text } = await send(service.url, path, {
          method: 'POST',
          token,
          headers: accept,
          body: initialize,
        });
        return text.replaceAll(/beta|never|shaped/g, '?');
      };
      expect(await initialized(operate, '/mcp/servers/beta')).toContain('offers nothing of');
      expect(await initialized(call, '/mcp/servers/beta')).toBe(
        await initialized(call, '/mcp/servers/never'),
      );
      expect(await initialized(operate, '/mcp/views/shaped')).toContain('NO_GRANT');
      expect(await initialized(call, '/mcp/views/shaped')).toBe(
        await initialized(call, '/mcp/views/never'),
      );
    } finally {
      await api.call('PUT', '/views/default', { rules: [before] });
    }
  });

  it('explains each decision', async () => {
    await makeView(
      'why',
      [
        { effect: 'include', server: 'alpha', kind: 'tool' },
        { effect: 'exclude', name: 'delete_*' },
      ],
      [{ subject_kind: 'group', subject: 'crew', level: 'call_read_only' }],
    );
    const explain = async (subject: string, tool: string): Promise<unknown> =>
      (await api.call('POST', '/access/explain', { subject, view: 'why', tool: ids[tool] })).body;
    expect(await explain('group:crew', 'alpha.get_item')).toMatchObject({
      is_callable: true,
      decided_by: 'grant',
    });
    expect(await explain('group:crew', 'alpha.delete_item')).toMatchObject({
      is_listed: false,
      decided_by: 'rule',
      rule: { name: 'delete_*' },
    });
    expect(await explain('group:crew', 'alpha.create_item')).toMatchObject({
      is_listed: false,
      decided_by: 'level',
    });
    expect(await explain('group:crew', 'beta.get_item')).toMatchObject({
      is_listed: false,
      decided_by: 'no rule',
    });
    await issue(api, { name: 'why-bot', view: 'why', level: 'call' });
    expect(await explain('token:why-bot', 'alpha.create_item')).toMatchObject({
      is_callable: true,
    });
    expect(await explain('token:ci', 'alpha.get_item')).toMatchObject({
      is_listed: false,
      decided_by: 'no grant',
    });
  });

  it('explains for all subjects of one caller, and for tokens with the scopes that they have', async () => {
    await makeView(
      'asked',
      [{ server: 'alpha', kind: 'tool' }],
      [
        { subject_kind: 'group', subject: 'crew', level: 'call' },
        { subject_kind: 'token', subject: 'read', level: 'call' },
      ],
    );
    const ask = (body: object) =>
      api.call('POST', '/access/explain', { view: 'asked', tool_name: 'alpha.get_item', ...body });
    const explain = async (...subjects: string[]): Promise<unknown> => {
      const { status, body } = await ask({ subjects });
      expect(status).toBe(200);
      return body;
    };
    expect(await explain('user:ada')).toMatchObject({ is_listed: false, decided_by: 'no grant' });
    expect(await explain('user:ada', 'group:crew')).toMatchObject({
      is_callable: true,
      decided_by: 'grant',
      message: expect.stringMatching(/^user:ada with group:crew may call alpha\.get_item/),
      approval_id: null,
    });
    expect(await explain('token:admin')).toMatchObject({
      is_callable: true,
      decided_by: 'scope',
      grant_id: null,
    });
    expect(await explain('token:read')).toMatchObject({
      is_listed: true,
      is_callable: false,
      decided_by: 'scope',
    });
    await issue(api, { name: 'elsewhere', view: 'why' });
    expect(await explain('token:elsewhere')).toMatchObject({
      is_listed: false,
      decided_by: 'no grant',
      message: expect.stringContaining('was issued for the view why'),
    });
    for (const wrong of [
      {},
      { subject: 'anyone', subjects: ['anyone'] },
      { subjects: ['token:read', 'group:crew'] },
      { subjects: [] },
      { subjects: ['ada'] },
      { subject: 'anyone', tool: 1 },
    ]) {
      expect((await ask(wrong)).status).toBe(422);
    }
    const preview = async (as: string): Promise<unknown> => {
      const { body } = await api.call('GET', `/views/asked/preview?as=${as}`);
      return [body['level'], body['total']];
    };
    expect(await preview('token:elsewhere')).toEqual([null, 0]);
    expect(await preview('group:crew')).toEqual(['call', 8]);
    expect(await preview('token:admin')).toEqual(['call', 8]);
    await issue(api, { name: 'asked-bot', view: 'asked', level: 'read' });
    expect(await preview('token:asked-bot')).toEqual(['read', 8]);
  });

  it('previews, clones, and saves a view that is the same without a trace', async () => {
    await makeView('origin', [{ effect: 'include', server: 'beta', annotation: 'destructive' }]);
    const preview = await api.call('GET', '/views/origin/preview');
    expect(preview.body['tools']).toMatchObject([
      { name: 'beta.beta_only' },
      { name: 'beta.delete_item' },
      { name: 'beta.purge' },
    ]);
    expect(await api.call('POST', '/views/origin/clone', { slug: 'copy' })).toMatchObject({
      status: 201,
      body: { rules: [{ server: 'beta', annotation: 'destructive' }] },
    });
    const entries = async (): Promise<unknown> =>
      (await api.call('GET', '/policy/history')).body['entries'];
    const before = await entries();
    await api.call('PUT', '/views/copy', {
      rules: [{ effect: 'include', server: 'beta', annotation: 'destructive' }],
    });
    expect(await entries()).toEqual(before);
  });

  it('shows what rules would do before a view has them', async () => {
    await makeView('drafted', []);
    const draft = {
      view: 'drafted',
      rules: [
        { server: 'beta', kind: 'tool' },
        { name: 'delete_*' },
        { effect: 'exclude', annotation: 'destructive' },
      ],
    };
    const preview = await api.call('POST', '/views/preview', draft);
    expect(preview).toMatchObject({
      status: 200,
      body: {
        rules: [
          { matches: 8, adds: 8 },
          { matches: 2, adds: 1 },
          { matches: 6, adds: -4 },
        ],
        offered: 5,
        held: 0,
        left_out: 11,
        total: 16,
      },
    });
    const found = await api.call('POST', '/views/preview?text=_only', draft);
    expect(found.body['tools']).toMatchObject([
      { name: 'alpha.alpha_only', state: 'left_out', rule: 2, reason: 'rule' },
      { name: 'beta.beta_only', state: 'left_out', rule: 2, reason: 'rule' },
    ]);
    const reading = { ...draft, level: 'call_read_only' };
    const offered = await api.call('POST', '/views/preview?state=offered', reading);
    expect(offered.body['tools']).toMatchObject([
      { name: 'beta.find_items', rule: 0 },
      { name: 'beta.get_item', rule: 0 },
      { name: 'beta.list_items', rule: 0 },
    ]);
    expect(await api.call('GET', '/views/drafted')).toMatchObject({ body: { rules: [] } });
    const unknown = await api.call('POST', '/views/preview', { rules: [{ server: 'gamma' }] });
    expect(unknown).toMatchObject({ status: 422 });
  });

  it('the default view stays, and an empty one offers nothing', async () => {
    expect(await api.call('DELETE', '/views/default')).toMatchObject({ status: 409 });
    await makeView('empty', [], [{ subject_kind: 'anyone', level: 'call' }]);
    const client = await connect(service, '/mcp/views/empty', service.tokens.call);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'mcp__proxy__aggregator__query',
    ]);
    await client.close();
  });
});

describe('a policy at two replicas', () => {
  let one: TestApp;
  let other: TestApp;
  const token = 'a-token-of-both-replicas';

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_TOKENS: `admin:admin:${token},ci:call:the-token-of-ci-at-both`,
    };
    one = await startApp(settings);
    other = await startApp(settings);
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  it('is followed by both, and a withdrawn grant ends sessions at the other', async () => {
    const api = new Api({ ...one, token });
    await api.call('POST', '/views', { slug: 'shared', rules: [] });
    const { body } = await api.call('POST', '/grants', {
      view: 'shared',
      subject_kind: 'token',
      subject: 'ci',
      level: 'read',
    });
    const begin = async (): Promise<number> =>
      (
        await send(other.url, '/mcp/views/shared', {
          method: 'POST',
          token: 'the-token-of-ci-at-both',
          headers: accept,
          body: initialize,
        })
      ).status;
    await eventually(async () => expect(await begin()).toBe(200));
    const ping = await session(other, '/mcp/views/shared', 'the-token-of-ci-at-both');
    await api.call('DELETE', `/grants/${String(body['id'])}`);
    await eventually(async () => expect(await begin()).toBe(404));
    expect(await ping()).toBe(404);
  });
});
