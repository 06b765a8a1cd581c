import { fileURLToPath } from 'node:url';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { HeardStream, listenStream, standingStream } from '../support/client-streams.js';
import { eventually } from '../support/eventually.js';

const fixture = fileURLToPath(new URL('../fixtures/items.mjs', import.meta.url));
const ALL = { effect: 'include' };
const exclude = (name: string): object => ({ effect: 'exclude', server: 'alpha', name });

describe('clients are told when the policy changes what they see', () => {
  let service: TestApp;
  let api: Api;

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    const server = {
      name: 'alpha',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture, 'alpha'] },
    };
    await api.register(server);
    await eventually(async () =>
      expect((await api.call('GET', '/tools')).body).toMatchObject({ total: 8 }),
    );
  });
  afterAll(() => service.close());

  const offer = async (...rules: object[]): Promise<void> => {
    expect((await api.call('PUT', '/views/default', { rules })).status).toBe(200);
  };

  describe.each([
    ['with a session', standingStream],
    ['without a session', listenStream],
  ])('%s', (_, open) => {
    let stream: HeardStream | undefined;
    beforeEach(() => offer(ALL, exclude('delete_*')));
    afterEach(async () => {
      await stream?.close();
      await offer(ALL);
    });
    const listen = async (path: string): Promise<HeardStream> =>
      (stream = new HeardStream(await open(service, path)));

    it.each(['/mcp', '/mcp/servers/alpha'])('at %s, of tools and prompts', async (path) => {
      const heard = await listen(path);
      await offer(ALL, exclude('get_*'));
      await eventually(() => {
        expect([heard.hasHeard('tools'), heard.hasHeard('prompts')]).toEqual([true, true]);
      });
    });

    it('at /mcp/search, of other tools of the same number', async () => {
      const heard = await listen('/mcp/search');
      await offer(ALL, exclude('get_item'));
      await eventually(() => expect(heard.hasHeard('tools')).toBe(true));
    });

    it('at /mcp/servers/{name}, of a tool that got another name', async () => {
      const heard = await listen('/mcp/servers/alpha');
      const { body } = await api.call('GET', '/tools');
      const tools = body['tools'] as { id: string; name: string }[];
      const id = tools.find(({ name }) => name === 'alpha.get_item')?.id;
      const path = `/tools/${id}/override`;
      expect(await api.call('PUT', path, { name: 'look_up' })).toMatchObject({ status: 200 });
      await eventually(() => expect(heard.hasHeard('tools')).toBe(true));
      await api.call('DELETE', path);
    });
  });
});
