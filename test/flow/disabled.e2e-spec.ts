import { randomUUID } from 'node:crypto';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { httpPeer, processesWith } from '../support/peers.js';
import { insertTools, ROWS_ONLY } from '../support/rows.js';

const marker = `disabled-${randomUUID()}`;
const program = {
  transport_type: 'STDIO',
  connection_config: { command: process.execPath, args: ['-e', 'setInterval(Date, 1e3)', marker] },
};

describe.each(['PostgreSQL', 'PGlite'])(
  'a service with MCP_AGGREGATOR_ENABLED=false, on %s',
  (engine) => {
    let service: TestApp;
    let api: Api;
    beforeAll(async () => {
      service = await startApp({
        ...ROWS_ONLY,
        ...(engine === 'PGlite' && { DATABASE_URL: '' }),
      });
      api = new Api(service);
    });
    afterAll(() => service.close());

    const refused = {
      status: 503,
      body: {
        error_code: 'SERVER_UNAVAILABLE',
        detail: expect.stringContaining('MCP_AGGREGATOR_ENABLED=false'),
      },
    };

    it('registers a server, but does not connect it, even on request', async () => {
      const id = await api.register({ name: 'idle', ...program });
      expect(await api.call('POST', `/servers/${id}/connect?wait_seconds=5`)).toMatchObject(
        refused,
      );
      const { body } = await api.call('GET', `/servers/${id}`);
      expect(body).toMatchObject({ status: 'DISCONNECTED' });
      expect(await api.history(id)).not.toContain('CONNECTING');
      const change = { connection_config: { ...program.connection_config, env: { A: 'b' } } };
      expect((await api.call('PATCH', `/servers/${id}`, change)).status).toBe(200);
      expect(processesWith(marker)).toEqual([]);
    });

    it('connects no server for a call, and says why', async () => {
      await insertTools(service.app, 'asleep', [{ name: 'echo', description: 'Echo' }]);
      const answer = await fetch(`${service.url}/api/v1/tools/call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'asleep.echo', arguments: {} }),
      });
      expect({ status: answer.status, body: await answer.json() }).toMatchObject(refused);
      expect(processesWith(marker)).toEqual([]);
    });

    it('asks no authorization server', async () => {
      const peer = await httpPeer('peer-v2.mjs', ['http']);
      try {
        const id = await api.register({
          name: 'guarded',
          transport_type: 'HTTP',
          connection_config: { base_url: peer.url },
        });
        expect(await api.call('POST', `/servers/${id}/authorize`)).toMatchObject(refused);
      } finally {
        await peer.stop();
      }
    });

    it('serves requests that need no server', async () => {
      await eventually(async () => {
        const { status } = await api.call('GET', '/servers');
        expect(status).toBe(200);
      });
    });
  },
);
