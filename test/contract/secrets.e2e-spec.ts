import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { createDatabase, dump } from '../support/postgres.js';
import { startProcess } from '../support/service-process.js';

/** Placed wherever a server's configuration can hold a secret; nothing listens at its port. */
const CANARY = 'canary-7f3a9c';
const url = `http://user-${CANARY}:pass-${CANARY}@127.0.0.1:9/mcp?key=query-${CANARY}`;
const servers = [
  {
    name: 'http',
    transport_type: 'HTTP',
    connection_config: { base_url: url, headers: { 'X-Key': `header-${CANARY}` } },
    health_check_url: url,
  },
  {
    name: 'sse',
    transport_type: 'SSE',
    connection_config: { url, headers: { Authorization: `Bearer header-${CANARY}` } },
  },
  {
    name: 'loud',
    transport_type: 'STDIO',
    // Prints its secret to the server's output and exits without a response.
    connection_config: {
      command: process.execPath,
      args: [
        '-e',
        'console.log(process.env.KEY); console.error("key is", process.env.KEY); process.exit(3)',
      ],
      env: { KEY: `env-${CANARY}` },
    },
  },
  {
    name: 'absent',
    transport_type: 'STDIO',
    connection_config: {
      command: '/nowhere/program',
      args: [`--token=arg-${CANARY}`],
      env: { KEY: `env-${CANARY}` },
    },
  },
  {
    name: 'placeholder',
    transport_type: 'HTTP',
    connection_config: {
      base_url: 'http://127.0.0.1:9/${SECRET_PATH}',
      headers: { K: '${SECRET_HEADER}' },
    },
  },
];

describe('a secret in the configuration of a server', () => {
  it('appears in no answer, log, metric, audit row, description, or plain column', async () => {
    const folder = await temporaryFolder();
    const database = await createDatabase();
    const service = await startProcess(folder.path, {
      DATABASE_URL: database,
      MCP_CREDENTIAL_KEY: 'a key for this test alone',
      MCP_AGGREGATOR_LOG_LEVEL: 'trace',
      MCP_AGGREGATOR_LOG_FORMAT: 'json',
      SECRET_PATH: `path-${CANARY}`,
      SECRET_HEADER: `variable-${CANARY}`,
    });
    const seen: string[] = [];
    const request = async (
      method: string,
      path: string,
      body?: object,
    ): Promise<{ text: string; body: unknown }> => {
      const answer = await send(service.url, path, {
        method,
        token: service.token,
        ...(body && { body: JSON.stringify(body) }),
      });
      seen.push(JSON.stringify(answer.headers), answer.text);
      return answer;
    };
    try {
      for (const server of servers) await request('POST', '/api/v1/aggregator/servers', server);
      // Refused requests do not reveal it either.
      await request('POST', '/api/v1/aggregator/servers', {
        name: 'x',
        transport_type: 'SSE',
        connection_config: {
          url: `nonsense-${CANARY}`,
          unknown: CANARY,
        },
      });
      await eventually(async () => {
        const { body } = await request('GET', '/api/v1/aggregator/servers');
        const { servers: listed } = body as { servers: { status: string }[] };
        expect(listed.filter((server) => server.status === 'ERROR')).toHaveLength(servers.length);
      });
      const { body } = await request('GET', '/api/v1/aggregator/servers');
      for (const { id } of (body as { servers: { id: string }[] }).servers) {
        for (const part of ['', '/history', '/logs', '/health', '/tools']) {
          await request('GET', `/api/v1/aggregator/servers/${id}${part}`);
        }
        await request('PATCH', `/api/v1/aggregator/servers/${id}`, { description: 'changed' });
      }
      for (const path of [
        '/metrics',
        '/docs/openapi.json',
        '/api/v1/aggregator/state',
        '/api/v1/aggregator/audit',
        '/health',
      ]) {
        await request('GET', path);
      }
      const rows = await dump(database);
      expect(seen.filter((text) => text.includes(CANARY))).toEqual([]);
      expect(
        service
          .output()
          .split('\n')
          .filter((line) => line.includes(CANARY)),
      ).toEqual([]);
      expect(rows.filter((row) => row.includes(CANARY))).toEqual([]);
    } finally {
      service.child.kill('SIGKILL');
      await service.exited;
      await folder.remove();
    }
  });
});
