import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CommandBus } from '@nestjs/cqrs';
import { SYSTEM } from '@app/access';
import { PolicyChanged } from '@app/events';
import { jsonTextOf, Signals } from '@app/platform';
import { ImportPolicyFile, readPolicyFile } from '@app/policy';
import { Api, type ApiAnswer } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, stdioPeer } from '../support/peers.js';

const STARTS_WITHIN_MS = 300_000;
const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);
const config = { command, args };

const support = {
  title: 'Support',
  budget_tokens: 5_000,
  rules: [
    { effect: 'include', server: 'peer', name: 'echo' },
    { server: 'peer', name: 'co*', kind: 'tool' },
    { effect: 'exclude', name: 'wait' },
  ],
  grants: [
    { subject: 'group:support', level: 'call_read_only', calls_per_minute: 60 },
    { subject: 'token:ci', level: 'call', expires_at: '2099-01-31T12:00:00+01:00' },
  ],
  overrides: {
    'peer.echo': {
      name: 'say',
      title: 'Say',
      annotations: { readOnlyHint: true, idempotentHint: true },
      preset_arguments: { text: 'hello', a: { z: 1, b: [true, null] } },
      hidden_arguments: ['text'],
    },
  },
};
const document = {
  views: { support, empty: { rules: [] } },
  overrides: { 'peer.count': { description: 'Counts', name: 'enumerate' } },
};

describe('a policy document', () => {
  let first: TestApp;
  let second: TestApp;
  beforeAll(async () => {
    first = await startApp();
    second = await startApp({ DATABASE_URL: '' });
    for (const service of [first, second]) await registerPeer(service, 'peer');
  }, STARTS_WITHIN_MS);
  afterAll(async () => {
    await first.close();
    await second.close();
  });

  const call = (service: TestApp, method: string, path: string, body?: object) =>
    new Api(service).call(method, path, body);
  const bring = (service: TestApp, body: object, query = ''): Promise<ApiAnswer> =>
    call(service, 'POST', `/policy/import${query}`, body);
  const exported = async ({ url, token }: TestApp): Promise<string> =>
    (
      await fetch(`${url}/api/v1/aggregator/policy/export`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).text();
  const historyOf = async (service: TestApp): Promise<unknown> =>
    (await call(service, 'GET', '/policy/history?limit=200')).body['entries'];

  async function registerPeer(service: TestApp, name: string): Promise<void> {
    await new Api(service).register({ name, transport_type: 'STDIO', connection_config: config });
    await eventually(async () => {
      const path = `/api/v1/aggregator/tools?server=${name}`;
      const { body } = await send(service.url, path, { token: service.token });
      expect(body).toMatchObject({ total: 9 });
    });
  }

  /** Without the own tool, which every view has. */
  async function listed({ url, token }: TestApp, view: string): Promise<readonly object[]> {
    const client = new Client({ name: 'lists', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp/views/${view}`), { requestInit }),
    );
    const { tools } = await client.listTools();
    await client.close();
    return tools.filter(({ name }) => !name.startsWith('mcp__proxy'));
  }

  it('makes views, grants and overrides, and a second time changes nothing', async () => {
    expect(await bring(first, document)).toEqual({
      status: 200,
      body: {
        changed: [
          'views.support',
          'views.empty',
          'overrides.peer.count',
          'views.support.overrides.peer.echo',
          'views.support.grants.group:support',
          'views.support.grants.token:ci',
        ],
        removed: [],
        unchanged: 0,
        refused: [],
      },
    });
    const before = await historyOf(first);
    expect(before).toHaveLength(6);
    const told: PolicyChanged[] = [];
    const stop = first.app.get(Signals, { strict: false }).hear(PolicyChanged, (event) => {
      told.push(event);
    });
    expect(await bring(first, document)).toMatchObject({
      body: { changed: [], removed: [], unchanged: 6, refused: [] },
    });
    stop();
    expect(told).toEqual([]);
    expect(await historyOf(first)).toEqual(before);
    const tools = await listed(first, 'support');
    expect(tools).toMatchObject([{ name: 'enumerate', description: 'Counts' }, { name: 'say' }]);
  });

  it('comes back byte by byte from another machine, which then offers the same lists', async () => {
    const text = await exported(first);
    const { body } = await bring(second, JSON.parse(text) as object);
    expect(body).toMatchObject({ refused: [], removed: [] });
    expect(await exported(second)).toBe(text);
    expect(await bring(second, JSON.parse(text) as object, '?prune=true')).toMatchObject({
      body: { changed: [], removed: [], refused: [] },
    });
    expect(await listed(second, 'support')).toEqual(await listed(first, 'support'));
  });

  it('names the place of each mistake, and then changes nothing', async () => {
    const before = await exported(first);
    const { status, body } = await bring(first, {
      views: {
        Bad: { rules: [] },
        good: {
          rules: [{ effect: 'hide' }],
          grants: [
            { subject: 'ci', level: 'call' },
            { subject: 'anyone', level: 'all' },
            { subject: 'anyone', level: 'call', expires_at: 'tomorrow' },
          ],
          overrides: { echo: {}, 'peer.echo': { name: 'a__b', surprise: 1 } },
        },
      },
      other: 1,
    });
    expect(status).toBe(422);
    const places = (body['detail'] as { loc: string[] }[]).map(({ loc }) => loc.join('/'));
    expect(places.toSorted()).toEqual([
      'body/other',
      'body/views/Bad',
      'body/views/good/grants/0/subject',
      'body/views/good/grants/1/level',
      'body/views/good/grants/2/expires_at',
      'body/views/good/overrides/echo',
      'body/views/good/overrides/peer.echo/name',
      'body/views/good/overrides/peer.echo/surprise',
      'body/views/good/rules/0/effect',
    ]);
    expect(await exported(first)).toBe(before);
  });

  it('leaves out a part that cannot be applied, says why, and applies the others', async () => {
    const { status, body } = await bring(second, {
      views: {
        broken: {
          rules: [{ server: 'nowhere' }],
          grants: [{ subject: 'anyone', level: 'call' }],
        },
        whole: { rules: [], overrides: { 'peer.echo': { hidden_arguments: ['no'] } } },
      },
      overrides: { 'nowhere.tool': { title: 'x' } },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      changed: ['views.whole'],
      refused: [
        {
          place: 'views.broken.rules.0.server',
          reason: 'No server is named nowhere; register it first',
        },
        { place: 'overrides.nowhere.tool', reason: expect.stringContaining('register it first') },
        {
          place: 'views.whole.overrides.peer.echo.hidden_arguments.no',
          reason: 'peer.echo has no such argument',
        },
      ],
    });
  });

  it('takes a view with as many rules as it may have, each with every member', async () => {
    const rule = (i: number): object => ({
      effect: 'exclude',
      kind: 'tool',
      server: 'peer',
      name: `tool_${i}_*`,
      skill: `skill-${i}`,
      annotation: 'destructive',
    });
    const largest = {
      title: 'Largest',
      description: 'x'.repeat(4_000),
      budget_tokens: 5_000,
      rules: Array.from({ length: 200 }, (_, i) => rule(i)),
    };
    const made = await call(first, 'POST', '/views', { slug: 'largest', ...largest });
    expect(made).toMatchObject({ status: 201, body: largest });
    expect(await bring(first, { views: { largest } })).toMatchObject({
      status: 200,
      body: { changed: [], unchanged: 1, refused: [] },
    });
    const title = 'Largest of all';
    expect(await call(first, 'PUT', '/views/largest', { ...largest, title })).toMatchObject({
      status: 200,
      body: { title },
    });
    const more = { rules: Array.from({ length: 201 }, (_, i) => rule(i)) };
    expect((await call(first, 'PUT', '/views/largest', more)).status).toBe(422);
    await call(first, 'DELETE', '/views/largest');
  });

  it('removes what it does not have only when it is asked to', async () => {
    await bring(second, { views: { extra: { rules: [] } } });
    const left = { views: { support: { ...support, grants: [], overrides: {} } } };
    expect(await bring(second, left)).toMatchObject({ body: { changed: [], removed: [] } });
    const { body } = await bring(second, left, '?prune=true');
    expect(body['removed']).toEqual(
      expect.arrayContaining([
        'views.extra',
        'views.empty',
        'views.support.grants.group:support',
        'views.support.grants.token:ci',
        'views.support.overrides.peer.echo',
        'overrides.peer.count',
      ]),
    );
    const { views, overrides } = JSON.parse(await exported(second)) as Record<string, object>;
    expect(Object.keys(views ?? {})).toEqual(['default', 'support']);
    expect(views).toMatchObject({ default: { grants: [{ subject: 'anyone', level: 'call' }] } });
    expect(overrides).toEqual({});
  });

  it('leaves a history that is read newest first, however long it is', async () => {
    for (let i = 0; i < 12; i++) {
      await bring(first, { views: { often: { title: String(i), rules: [] } } });
    }
    const { body } = await call(first, 'GET', '/policy/history?limit=12');
    const entries = body['entries'] as { after: { title: string } }[];
    expect(entries.map(({ after }) => after.title).join(' ')).toBe('11 10 9 8 7 6 5 4 3 2 1 0');
  });

  /** As a start does with a configuration file of that name. */
  async function importFile(text: string, file = 'servers.json'): Promise<void> {
    const document = await readPolicyFile(await jsonTextOf(text, file), file);
    if (!document) throw new Error('the file has no policy');
    await first.app.get(CommandBus).execute(new ImportPolicyFile(document, file, SYSTEM));
  }

  it('offers a tool as it says once its server lists the tool', async () => {
    const id = await new Api(first).register({
      name: 'later',
      transport_type: 'STDIO',
      connection_config: config,
      auto_connect: false,
    });
    const later = {
      rules: [{ server: 'later', name: 'echo' }],
      overrides: { 'later.echo': { name: 'repeat', title: 'Repeat' } },
    };
    const text = JSON.stringify({ mcpServers: {}, views: { later } });
    await importFile(text);
    const before = await historyOf(first);
    await importFile(text);
    expect(await historyOf(first)).toEqual(before);
    await call(first, 'POST', `/servers/${id}/connect`, {});
    await eventually(async () => {
      expect(await listed(first, 'later')).toMatchObject([{ name: 'repeat', title: 'Repeat' }]);
    });
  });

  it('reads YAML', async () => {
    const text = 'views:\n  written: # by hand\n    title: Written\n    rules: [{server: peer}]\n';
    await importFile(text, 'servers.yaml');
    expect(await call(first, 'GET', '/views/written')).toMatchObject({
      body: { title: 'Written', rules: [{ effect: 'include', server: 'peer' }] },
    });
  });

  it.each([
    ['{"views":{"a":{}}}', 'views.a.rules: Must'],
    ['{"views":[]}', 'views: Input should be a JSON object'],
    ['{', 'it is not valid JSON: see line 1, column 2'],
  ])('refuses the start with %s', async (text, problem) => {
    await expect(importFile(text)).rejects.toThrow(problem);
  });
});
