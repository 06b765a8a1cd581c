import pg from 'pg';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type HoldingServer, startHoldingServer } from '../support/holding-server.js';
import { type Answer, send } from '../support/http.js';
import { createDatabase } from '../support/postgres.js';

const skill = (id: string) => ({ id, name: id, description: 'x' });

describe('while a table is locked', () => {
  let service: TestApp;
  let admin: pg.Client;
  let peer: HoldingServer;
  let id: string;

  beforeAll(async () => {
    const url = await createDatabase();
    service = await startApp({
      DATABASE_URL: url,
      MCP_AGGREGATOR_DATABASE_WAIT: '2',
      MCP_AGGREGATOR_HEALTH_INTERVAL: '1',
    });
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
    peer = await startHoldingServer();
    id = await new Api(service).register({
      name: 'peer',
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    await eventually(async () => {
      expect((await ask('/api/v1/aggregator/state')).body).toMatchObject({ total_tools: 1 });
    });
  });
  afterAll(async () => {
    await service.close();
    peer.close();
    await admin.end();
  });

  const ask = (path: string, method = 'GET', body?: object): Promise<Answer> =>
    send(service.url, path, {
      method,
      token: service.token,
      ...(body && { body: JSON.stringify(body) }),
    });
  const call = async (): Promise<Answer> => {
    const answer = ask('/api/v1/tools/call', 'POST', { name: 'peer.wait', arguments: {} });
    await eventually(() => expect(peer.held()).toBe(1));
    peer.release();
    return answer;
  };
  const whileLocked = async (table: string, look: () => Promise<void>): Promise<void> => {
    await admin.query(`BEGIN; LOCK TABLE mcp.${table} IN ACCESS EXCLUSIVE MODE`);
    try {
      await look();
    } finally {
      await admin.query('ROLLBACK');
    }
  };
  const isWaitedFor = (): Promise<void> =>
    eventually(async () => {
      const { rows } = await admin.query(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(rows).not.toHaveLength(0);
    });
  /** A check that does not end within its deadline fails, also on a machine that is busy for a moment. */
  const isHealthy = (): Promise<void> =>
    eventually(async () => {
      expect((await ask('/health/ready')).status).toBe(200);
      const health = await ask('/health');
      expect(health).toMatchObject({ status: 200, body: { checks: { database: 'ok' } } });
    });
  const refused = (answer: Answer): void => {
    expect(answer).toMatchObject({ status: 503, body: { error_code: 'DATABASE_UNAVAILABLE' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  };

  it('requests that need it are 503, and all others are answered', async () => {
    await whileLocked('external_servers', async () => {
      const stuck = Array.from({ length: 30 }, (_, i) =>
        i % 2
          ? ask('/api/v1/aggregator/servers')
          : ask(`/api/v1/aggregator/servers/${id}`, 'PATCH', { description: 'x' }),
      );
      await isWaitedFor();
      const others = await Promise.all([
        ask('/api/v1/aggregator/skills'),
        ask('/api/v1/aggregator/audit'),
        ask('/api/v1/aggregator/query/rules'),
        ask('/api/v1/aggregator/skills', 'POST', skill('beside')),
        call(),
      ]);
      expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 201, 200]);
      for (const answer of await Promise.all(stuck)) refused(answer);
      await isHealthy();
    });
  });

  it('of the audit log, writes are 503 and change nothing, and calls and reads work', async () => {
    await whileLocked('audit_log', async () => {
      const stuck = Array.from({ length: 10 }, (_, i) =>
        ask('/api/v1/aggregator/skills', 'POST', skill(`unaudited_${i}`)),
      );
      await isWaitedFor();
      const answers = await Promise.all([call(), ask('/api/v1/aggregator/servers')]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      await isHealthy();
      for (const answer of await Promise.all(stuck)) refused(answer);
    });
    const { text } = await ask('/api/v1/aggregator/skills');
    expect(text).not.toContain('unaudited');
    await eventually(async () => {
      expect((await ask('/api/v1/aggregator/audit?event=tool.called')).text).toContain('peer.wait');
    });
  });

  it('registrations do not wait for one whose name another transaction is writing', async () => {
    const server = (name: string) => ({
      name,
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
      auto_connect: false,
    });
    const register = (name: string) => ask('/api/v1/aggregator/servers', 'POST', server(name));
    await admin.query(`BEGIN`);
    try {
      await admin.query(
        `INSERT INTO mcp.external_servers (id, name, transport_type, connection_config)
         VALUES (gen_random_uuid(), 'held', 'HTTP', '{}')`,
      );
      const held = register('held');
      await isWaitedFor();
      const others = await Promise.all([register('one'), register('two')]);
      expect(others.map(({ status }) => status)).toEqual([201, 201]);
      refused(await held);
    } finally {
      await admin.query('ROLLBACK');
    }
  });

  it('a replica without requests keeps at most three connections', async () => {
    await eventually(async () => {
      const { rows } = await admin.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'switchboard%'`,
      );
      expect(rows[0]?.count).toBeLessThanOrEqual(3);
    });
  });
});
