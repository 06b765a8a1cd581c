import { Api } from '../support/api.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { startHoldingServer } from '../support/holding-server.js';
import { type Answer, send } from '../support/http.js';
import { fixture, nodesWith, processesWith } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const MARK = `SWITCHBOARD_TEST_MARK=replica-crash-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

describe('leader and follower on one PostgreSQL', () => {
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
  let leader: ServiceProcess;
  let follower: ServiceProcess;

  const call = (to: ServiceProcess, method: string, path: string, body?: object): Promise<Answer> =>
    send(to.url, `/api/v1${path}`, {
      method,
      token: to.token,
      ...(body && { body: JSON.stringify(body) }),
    });
  const register = async (at: ServiceProcess, name: string, tools: number): Promise<string> => {
    const { body } = await call(at, 'POST', '/aggregator/servers', {
      name,
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('many-tools.mjs'), String(tools)],
        env: { [markName]: markValue },
      },
    });
    return (body as { id: string }).id;
  };
  const toolsAt = async (service: ServiceProcess): Promise<unknown> =>
    (await call(service, 'GET', '/aggregator/tools?limit=1')).body;

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_TOKENS: 'test:admin:a-token-for-this-test-only',
      MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
      MCP_AGGREGATOR_HEALTH_INTERVAL: '1',
    };
    const start = async (): Promise<ServiceProcess> => {
      const folder = await temporaryFolder();
      folders.push(folder);
      return startProcess(folder.path, settings);
    };
    leader = await start();
    follower = await start();
  });
  afterAll(async () => {
    for (const { child, exited } of [leader, follower]) {
      child.kill('SIGKILL');
      await exited;
    }
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
    for (const folder of folders) await folder.remove();
  });

  it('the follower shows tools and statuses found by the leader', async () => {
    const id = await register(leader, 'book', 20);
    await eventually(async () => {
      expect(await toolsAt(follower)).toMatchObject({ total: 20 });
      const found = await call(follower, 'POST', '/search', { query: 'read page 7 about flowers' });
      expect(found.body).toMatchObject({
        tools: expect.arrayContaining([
          expect.objectContaining({ source_server: { id, name: 'book', status: 'CONNECTED' } }),
        ]) as unknown,
      });
    });
    await call(leader, 'PATCH', `/aggregator/servers/${id}`, { name: 'novel' });
    await eventually(async () => {
      expect(await toolsAt(follower)).toMatchObject({
        tools: [{ name: 'novel.read_page_0' }],
      });
    });
  });

  it('the leader shows changes made at the follower', async () => {
    const id = await register(follower, 'song', 3);
    await eventually(async () => expect(await toolsAt(leader)).toMatchObject({ total: 23 }));
    await call(follower, 'DELETE', `/aggregator/servers/${id}`);
    await eventually(async () => expect(await toolsAt(leader)).toMatchObject({ total: 20 }));
  });

  it('the follower takes over when the leader is killed, and keeps its sessions and calls', async () => {
    const held = await startHoldingServer();
    const { body: heldServer } = await call(leader, 'POST', '/aggregator/servers', {
      name: 'held',
      transport_type: 'HTTP',
      connection_config: { base_url: held.url },
    });
    const running = eventually(async () => {
      const answer = await call(follower, 'POST', '/tools/call', { name: 'held.wait' });
      expect(answer).toMatchObject({ status: 200 });
    });
    await eventually(() => expect(held.held()).toBe(1));
    leader.child.kill('SIGKILL');
    await leader.exited;
    await eventually(() => expect(nodesWith(MARK)).toHaveLength(1));
    const id = await register(follower, 'film', 2);
    await eventually(async () => {
      const { body } = await call(follower, 'GET', `/aggregator/servers/${id}`);
      expect(body).toMatchObject({ status: 'CONNECTED', tool_count: 2 });
      expect(await toolsAt(follower)).toMatchObject({ total: 23 });
    });
    expect(nodesWith(MARK)).toHaveLength(2);
    const { id: heldId } = heldServer as { id: string };
    expect(await new Api(follower).history(heldId)).toEqual([
      'REGISTERED',
      'CONNECTING',
      'CONNECTED',
    ]);
    expect(held.held()).toBe(1);
    held.release();
    await running;
    held.close();
  });
});
