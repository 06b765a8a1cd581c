import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';

describe('the settings in effect', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ MCP_AGGREGATOR_HEALTH_INTERVAL: '17' });
  });
  afterAll(() => service.close());

  it('are shown to admins with their source, and without secrets', async () => {
    const { status, body } = await new Api(service).call('GET', '/settings');
    expect(status).toBe(200);
    expect(body['settings']).toContainEqual({
      name: 'MCP_AGGREGATOR_HEALTH_INTERVAL',
      group: 'Servers and tools',
      description: 'Seconds between two health checks of a server',
      value: '17',
      default: '30',
      is_secret: false,
      is_set: true,
      source: 'environment',
      needs_restart: true,
    });
    const shown = JSON.stringify(body);
    for (const secret of [...Object.values(service.tokens), 'a-key-for-this-test-only']) {
      expect(shown).not.toContain(secret);
    }
  });

  it('are refused to every other caller', async () => {
    const caller = new Api({ url: service.url, token: service.tokens.call });
    expect((await caller.call('GET', '/settings')).status).toBe(403);
  });
});
