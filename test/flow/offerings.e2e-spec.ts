import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SessionPool } from '@app/sessions';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture, npmServers, stdioPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const NOTES = 'file:///notes';
const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

async function client(app: TestApp, path = '/mcp'): Promise<Client> {
  const sdk = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(path, app.url), {
    requestInit: { headers: { authorization: `Bearer ${app.token}` } },
  });
  // The SDK's own types conflict with exactOptionalPropertyTypes.
  await sdk.connect(transport as Parameters<Client['connect']>[0]);
  closing.push(() => sdk.close());
  return sdk;
}

async function register(app: TestApp, name: string, ...uris: string[]): Promise<string> {
  const { command, args } = stdioPeer(fixture('offers.mjs'), [`name=${name}`, ...uris]);
  const api = new Api(app);
  const id = await api.register({
    name,
    transport_type: 'STDIO',
    connection_config: { command, args },
  });
  await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
  return id;
}

async function read(app: TestApp, uri: string, path?: string): Promise<unknown> {
  const { contents } = await (await client(app, path)).readResource({ uri });
  return contents[0] && 'text' in contents[0] ? contents[0].text : undefined;
}

const titles = async (app: TestApp): Promise<unknown[]> =>
  (await (await client(app)).listResources()).resources.map(({ uri, title }) => [uri, title]);

describe('resources that two servers offer', () => {
  let app: TestApp;
  let url: string;
  let later: string;

  beforeAll(async () => {
    url = await createDatabase();
    app = await startApp({ DATABASE_URL: url });
    await register(app, 'zeta', NOTES, 'file:///notes/{id}');
    later = await register(app, 'alpha', NOTES, 'file:///{+path}', '{+any}');
  });
  afterAll(() => app.close());

  it('belong to the server registered first', async () => {
    await eventually(async () => {
      expect(await titles(app)).toEqual([[NOTES, 'zeta']]);
      expect(await read(app, NOTES)).toBe(`${NOTES} by zeta`);
      expect(await read(app, 'file:///notes/1')).toBe('file:///notes/1 by zeta');
      expect(await read(app, 'file:///other')).toBe('file:///other by alpha');
    });
    await expect(read(app, 'other://thing')).rejects.toThrow('Resource not found');
  });

  it('are listed for each server at /mcp/servers/{name}', async () => {
    expect(await read(app, NOTES, '/mcp/servers/alpha')).toBe(`${NOTES} by alpha`);
    expect(await read(app, 'other://thing', '/mcp/servers/alpha')).toBe('other://thing by alpha');
  });

  it('are named in the warnings of the server registered later', async () => {
    await eventually(async () => {
      const { body } = await new Api(app).call('GET', `/servers/${later}`);
      expect(body['warnings']).toEqual([
        expect.stringMatching(/^1 resource template not published, because .*: \{\+any\}$/),
        expect.stringMatching(/^1 resource not at \/mcp, because zeta was .*: file:\/\/\/notes$/),
      ]);
    });
  });

  it('belong to the same one in a replica without sessions, and after a rename', async () => {
    const replica = await startApp({ DATABASE_URL: url });
    try {
      expect(await titles(replica)).toEqual([[NOTES, 'zeta']]);
      const heard = new Set<string>();
      const listening = await client(app);
      listening.fallbackNotificationHandler = async ({ method }) => void heard.add(method);
      await new Api(replica).call('PATCH', `/servers/${later}`, { name: 'aaa' });
      await eventually(async () => {
        const { tools } = await listening.listTools();
        expect(tools.map(({ name }) => name)).toContain('aaa__storm');
        // The next test counts notifications: these are over then.
        for (const kind of ['tools', 'prompts']) {
          expect(heard).toContain(`notifications/${kind}/list_changed`);
        }
      });
      expect(await titles(replica)).toEqual([[NOTES, 'zeta']]);
      expect(await titles(app)).toEqual([[NOTES, 'zeta']]);
    } finally {
      await replica.close();
    }
  });

  it('stay listed during many changes, and clients get few notifications', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => client(app)));
    let heard = 0;
    for (const one of clients) one.fallbackNotificationHandler = async () => void heard++;
    const [storm] = await Promise.all([
      clients[0]?.callTool({ name: 'zeta__storm', arguments: { count: 3_000 } }),
      titles(app),
    ]);
    expect(storm?.content).toEqual([{ type: 'text', text: 'over' }]);
    expect(await titles(app)).toEqual([[NOTES, 'zeta']]);
    // Their lists are unchanged.
    expect(heard).toBe(0);
  });
});

describe('a replica without sessions', () => {
  let leader: TestApp;
  let replica: TestApp;
  let everything: string;
  let grows: string;

  const offered = async (app: TestApp): Promise<unknown> => {
    const sdk = await client(app);
    const [prompts, resources, templates] = await Promise.all([
      sdk.listPrompts(),
      sdk.listResources(),
      sdk.listResourceTemplates(),
    ]);
    return { ...prompts, ...resources, ...templates };
  };

  beforeAll(async () => {
    const url = await createDatabase();
    leader = await startApp({ DATABASE_URL: url });
    replica = await startApp({ DATABASE_URL: url });
    const api = new Api(leader);
    const { command, args } = npmServers.everything();
    everything = await api.register({
      name: 'everything',
      transport_type: 'STDIO',
      connection_config: { command, args },
    });
    grows = await register(leader, 'notes', NOTES, 'file:///notes/{id}');
    await eventually(async () => {
      const names = (await (await client(leader)).listPrompts()).prompts.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['everything__simple-prompt', 'notes__greet']) as unknown,
      );
    });
  });
  afterAll(async () => {
    await replica.close();
    await leader.close();
  });

  it('lists the prompts, resources and templates that the leader lists', async () => {
    await eventually(async () => {
      const all = await offered(replica);
      expect(all).toEqual(await offered(leader));
      expect(all).toMatchObject({
        prompts: expect.arrayContaining([expect.objectContaining({ name: 'notes__greet' })]) as [],
        resources: expect.arrayContaining([expect.objectContaining({ uri: NOTES })]) as [],
        resourceTemplates: expect.arrayContaining([
          expect.objectContaining({ uriTemplate: 'file:///notes/{id}' }),
        ]) as [],
      });
    });
    for (const id of [everything, grows]) {
      expect(replica.app.get(SessionPool).get(id)).toBeUndefined();
    }
  });

  it('opens a session when one of them is used', async () => {
    const sdk = await client(replica);
    expect(await sdk.getPrompt({ name: 'everything__simple-prompt' })).toMatchObject({
      messages: [{ role: 'user' }],
    });
    expect(replica.app.get(SessionPool).get(everything)).toBeDefined();
    expect(await read(replica, 'file:///notes/7')).toBe('file:///notes/7 by notes');
    expect(replica.app.get(SessionPool).get(grows)).toBeDefined();
  });

  it('notifies its clients of lists that changed at the leader', async () => {
    const sdk = await client(replica);
    const heard = new Set<string>();
    sdk.fallbackNotificationHandler = async ({ method }) => void heard.add(method);
    await new Api(leader).call('DELETE', `/servers/${grows}`);
    await eventually(() => {
      expect([...heard]).toEqual(
        expect.arrayContaining([
          'notifications/prompts/list_changed',
          'notifications/resources/list_changed',
        ]) as unknown,
      );
    });
    await eventually(async () => expect(await offered(replica)).toEqual(await offered(leader)));
  });
});
