import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { readEvents } from '../support/event-reader.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase, dump } from '../support/postgres.js';
import { startProcess } from '../support/service-process.js';

/** In everything that a person gives; `parrot.mjs` repeats it wherever a server can say something. */
const CANARY = 'canary-93jf84hq';
const ADA = 'token-of-ada-0123456789';

describe('what a person gives for a server', () => {
  let peer: HttpPeer;

  beforeAll(async () => {
    peer = await httpPeer('whose.mjs', ['http']);
  });
  afterAll(() => peer.stop());

  it('appears in no answer, log, event, metric, audit row, description, address, or plain column', async () => {
    const folder = await temporaryFolder();
    const database = await createDatabase();
    const root = 'token-of-root-0123456789';
    const service = await startProcess(folder.path, {
      DATABASE_URL: database,
      MCP_CREDENTIAL_KEY: 'a key for this test alone',
      MCP_AGGREGATOR_TOKENS: `root:admin:${root},ada:call:${ADA}`,
      MCP_AGGREGATOR_LOG_LEVEL: 'trace',
      MCP_AGGREGATOR_LOG_FORMAT: 'json',
    });
    const events = await readEvents({ url: service.url, token: root });
    const seen: string[] = [];
    const request = async (token: string, method: string, path: string, body?: object) => {
      const answer = await send(service.url, path, {
        method,
        token,
        ...(body && { body: JSON.stringify(body) }),
      });
      seen.push(JSON.stringify(answer.headers), answer.text);
      return answer;
    };
    const register = async (body: object): Promise<string> => {
      const answer = await request(root, 'POST', '/api/v1/aggregator/servers', body);
      return String((answer.body as { id: string }).id);
    };
    try {
      const env = { API_KEY: '${user.API_KEY:-shared-8fj3k4h5}' };
      const args = [fixture('parrot.mjs'), 'stdio'];
      const headers = { 'x-api-key': '${user.API_KEY:-shared-8fj3k4h5}' };
      const ids = [
        await register({
          name: 'loud',
          transport_type: 'STDIO',
          credentials: 'per_user',
          connection_config: { command: process.execPath, args, env },
        }),
        await register({
          name: 'remote',
          transport_type: 'HTTP',
          credentials: 'per_user',
          connection_config: { base_url: peer.url, headers },
        }),
      ];
      await eventually(async () => {
        const { body } = await request(root, 'GET', '/api/v1/aggregator/servers');
        const { servers } = body as { servers: { status: string; tool_count: number }[] };
        expect(servers).toHaveLength(2);
        for (const one of servers) {
          expect(one.status).toBe('CONNECTED');
          expect(one.tool_count).toBeGreaterThan(0);
        }
      });
      for (const id of ids) {
        const path = `/api/v1/me/connections/${id}`;
        const give = (API_KEY: unknown) => request(ADA, 'PUT', path, { values: { API_KEY } });
        // Refused values are not repeated either.
        await give(`line-${CANARY}\nanother`);
        await give([CANARY]);
        for (const key of [`refused-${CANARY}`, `key-${CANARY}`]) {
          expect((await give(key)).status).toBe(200);
          for (const tool of ['say', 'fail', 'log', 'whose']) {
            const called = { name: tool, server_id: id, arguments: {} };
            await request(ADA, 'POST', '/api/v1/tools/call', called);
          }
        }
        await request(ADA, 'POST', `${path}/link`);
        await request(root, 'GET', `/api/v1/aggregator/servers/${id}/connections`);
        for (const part of ['', '/history', '/logs', '/health', '/tools']) {
          await request(root, 'GET', `/api/v1/aggregator/servers/${id}${part}`);
        }
      }
      await request(ADA, 'GET', '/api/v1/me/connections');
      for (const path of ['/metrics', '/docs/openapi.json', '/api/v1/aggregator/audit']) {
        await request(root, 'GET', path);
      }
      const rows = await dump(database);
      expect(rows.some((row) => row.includes('token:ada'))).toBe(true);
      const lines = service.output().split('\n');
      const places = { seen, rows, lines, events: events.events.map((one) => JSON.stringify(one)) };
      for (const [place, texts] of Object.entries(places)) {
        expect([place, texts.filter((text) => text.includes(CANARY))]).toEqual([place, []]);
      }
    } finally {
      events.close();
      service.child.kill('SIGKILL');
      await service.exited;
      await folder.remove();
    }
  });
});
