import { SessionPool } from '@app/sessions';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture, nodesWith, processesWith } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const MARK = `SWITCHBOARD_TEST_MARK=replicas-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

describe('two replicas on one database', () => {
  let first: TestApp;
  let second: TestApp;
  let api: Api;
  let id: string;

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_HEALTH_INTERVAL: '0.2',
    };
    first = await startApp(settings);
    second = await startApp(settings);
    api = new Api(second);
  });
  afterAll(async () => {
    await second.close();
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  const pools = (): SessionPool[] => [first.app.get(SessionPool), second.app.get(SessionPool)];

  it('one of them leads', () => {
    expect(pools().map((pool) => pool.leads)).toEqual([true, false]);
  });

  it('a server registered at the other is connected once, by the one that leads', async () => {
    id = await api.register({
      name: 'shared',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('hostile.mjs'), 'stdio'],
        env: { [markName]: markValue },
      },
    });
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    expect(pools().map((pool) => pool.get(id) !== undefined)).toEqual([true, false]);
    expect(nodesWith(MARK)).toHaveLength(1);
  });

  it('it stays connected through the health checks of both', async () => {
    const checkedAt = async (): Promise<number> => {
      const { body } = await api.call('GET', `/servers/${id}/health`);
      return Date.parse(String(body['last_health_check']));
    };
    const begin = await eventually(async () => {
      const at = await checkedAt();
      expect(at).not.toBeNaN();
      return at;
    });
    await eventually(async () => expect(await checkedAt()).toBeGreaterThan(begin + 1_000));
    expect(await api.history(id)).toEqual(['REGISTERED', 'CONNECTING', 'CONNECTED']);
  });

  it('answers with the latency that the replica in the lead has measured', async () => {
    await eventually(async () => {
      const { body } = await api.call('GET', `/servers/${id}/health/history`);
      expect((body['latency'] as object[]).length).toBeGreaterThan(0);
    });
  });

  it('a call at the follower is passed on to the leader, without another process and a write to the rows', async () => {
    const [, pool] = pools();
    const session = await pool?.acquire({ id, name: 'shared', status: 'CONNECTED' }, 60_000);
    await expect(
      session?.request(
        'tools/call',
        { name: 'echo', arguments: { text: 'hi' } },
        { timeoutMs: 60_000 },
      ),
    ).resolves.toMatchObject({ content: [{ text: 'hi' }] });
    expect(nodesWith(MARK)).toHaveLength(1);
    expect(await api.history(id)).toEqual(['REGISTERED', 'CONNECTING', 'CONNECTED']);
  });

  it('a query rule set at one applies at the other before the periodic comparison', async () => {
    const asked = async (): Promise<unknown> =>
      (await new Api(first).call('POST', '/query', { query: 'why' })).body['context'];
    expect(await asked()).toMatchObject({ attempted_servers: [] });
    await api.call('PUT', '/query/rules', { rules: [{ pattern: 'why', servers: ['shared'] }] });
    await eventually(async () =>
      expect(await asked()).toMatchObject({ attempted_servers: ['shared'] }),
    );
  });

  it('disconnecting at one ends the sessions of both', async () => {
    const { body } = await api.call('POST', `/servers/${id}/disconnect`);
    expect(body['status']).toBe('DISCONNECTED');
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
    expect(await api.status(id)).toBe('DISCONNECTED');
  });

  it('connecting at the other waits for the one that leads', async () => {
    const { body } = await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    expect(body).toMatchObject({ status: 'CONNECTED', message: 'Server connected' });
    expect(pools().map((pool) => pool.get(id) !== undefined)).toEqual([true, false]);
  });

  it('a configuration changed at the other is reconnected', async () => {
    await api.call('PATCH', `/servers/${id}`, {
      connection_config: {
        command: process.execPath,
        args: [fixture('hostile.mjs'), 'stdio', '{"junk":true}'],
        env: { [markName]: markValue },
      },
    });
    await eventually(async () => {
      expect(first.app.get(SessionPool).logs(id)).toContain('[stdout] Listening on nothing {');
      expect(await api.status(id)).toBe('CONNECTED');
    });
  });

  it('the follower takes over when the leader stops', async () => {
    await first.close();
    await eventually(async () => {
      expect(second.app.get(SessionPool).leads).toBe(true);
      expect(second.app.get(SessionPool).get(id)).toBeDefined();
      expect(await api.status(id)).toBe('CONNECTED');
    });
    expect(nodesWith(MARK)).toHaveLength(1);
  });

  it('a removed server disappears from both', async () => {
    await api.call('DELETE', `/servers/${id}`);
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });
});
