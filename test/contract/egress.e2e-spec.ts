import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

describe('where the service connects to', () => {
  let peer: HttpPeer;

  beforeAll(async () => {
    peer = await httpPeer('peer-v1.mjs', ['http']);
  });
  afterAll(() => peer.stop());

  const server = (base_url: string): object => ({
    name: 'near',
    transport_type: 'HTTP',
    connection_config: { base_url },
  });

  async function during(
    settings: Record<string, string>,
    work: (api: Api, service: TestApp) => Promise<void>,
  ): Promise<void> {
    const service = await startApp(settings);
    try {
      await work(new Api(service), service);
    } finally {
      await service.close();
    }
  }

  it('is this machine too, until the setting says otherwise, and again when it names the address', async () => {
    const DATABASE_URL = await createDatabase();
    const becomes = (api: Api, status: string): Promise<void> =>
      eventually(async () => expect(await api.statuses()).toEqual({ near: status }));
    await during({ DATABASE_URL }, async (api) => {
      await api.register(server(peer.url));
      await becomes(api, 'CONNECTED');
    });
    await during({ DATABASE_URL, MCP_AGGREGATOR_EGRESS: 'public' }, async (api) => {
      await becomes(api, 'ERROR');
      const { servers } = (await api.call('GET', '/servers')).body as { servers: object[] };
      expect(servers).toEqual([
        expect.objectContaining({
          error_message: expect.stringContaining('MCP_AGGREGATOR_EGRESS=public'),
        }),
      ]);
    });
    const allowed = {
      DATABASE_URL,
      MCP_AGGREGATOR_EGRESS: 'public',
      MCP_AGGREGATOR_EGRESS_ALLOW: '127.0.0.0/8',
    };
    await during(allowed, (api) => becomes(api, 'CONNECTED'));
  });

  it('is said when a server is registered', async () => {
    await during({ MCP_AGGREGATOR_EGRESS: 'public' }, async (api) => {
      for (const url of [
        peer.url,
        'http://localhost:3000/mcp',
        'https://[fd00::1]/mcp',
        'https://[::ffff:10.0.0.1]/mcp',
        'https://100.100.100.200/mcp',
      ]) {
        const { status, body } = await api.call('POST', '/servers', server(url));
        expect({ url, status, body }).toEqual({
          url,
          status: 422,
          body: {
            error_code: 'VALIDATION_ERROR',
            detail: [
              {
                loc: ['body', 'connection_config', 'base_url'],
                msg: expect.stringContaining('MCP_AGGREGATOR_EGRESS_ALLOW'),
                type: 'value_error',
              },
            ],
          },
        });
      }
      expect(await api.statuses()).toEqual({});
    });
  });
});
