import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture } from '../support/peers.js';

const SHARED = 'note://shared';
const EVERYTHING = [{ effect: 'include' }];
const WITHOUT_RESOURCES = [{ effect: 'include' }, { effect: 'exclude', kind: 'resource' }];

describe('streams of clients whose view changes', () => {
  let service: TestApp;
  let api: Api;

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    await api.register({
      name: 'cross',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture('crossing.mjs'), 'stdio'] },
    });
    const view = { slug: 'team', rules: EVERYTHING };
    expect((await api.call('POST', '/views', view)).status).toBe(201);
  });
  afterAll(() => service.close());

  const setRules = async (rules: object[]): Promise<void> => {
    expect((await api.call('PUT', '/views/team', { rules })).status).toBe(200);
  };

  it.each(['/mcp/views/team', '/mcp/servers/cross'])(
    'at %s tell of no update of a resource that the view leaves out',
    async (path) => {
      const given = { name: `at${path.replaceAll('/', '-')}`, view: 'team', level: 'call' };
      const issued = await api.call('POST', '/tokens', { ...given, scopes: ['call'] });
      expect(issued.status).toBe(201);
      const client = new Client({ name: 'subscriber', version: '1' });
      const updates: string[] = [];
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        updates.push(params.uri);
      });
      const headers = { authorization: `Bearer ${String(issued.body['token'])}` };
      const url = new URL(path, service.url);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      const tool = path.endsWith('cross') ? 'work' : 'cross__work';
      const update = (): Promise<unknown> =>
        client.callTool({ name: tool, arguments: { for: 'all', do: ['update'] } });
      await eventually(async () => {
        expect((await client.listTools()).tools.map((one) => one.name)).toContain(tool);
        expect((await client.listResources()).resources).toHaveLength(1);
      });
      await client.subscribeResource({ uri: SHARED });
      await update();
      await eventually(() => expect(updates).toHaveLength(1));
      await setRules(WITHOUT_RESOURCES);
      await update();
      await setRules(EVERYTHING);
      await update();
      // They arrive in order: one of the second update would be there before that of the third.
      await eventually(() => expect(updates.length).toBeGreaterThan(1));
      expect(updates).toEqual([SHARED, SHARED]);
      await client.close();
    },
  );
});
