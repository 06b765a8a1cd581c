import { Balancer } from '../support/balancer.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { createDatabase } from '../support/postgres.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const TOKEN = 'a-token-of-this-test-only';
const USERS = 10;
const MODERN = '2026-07-28';

describe('two replicas behind a load balancer that polls readiness', () => {
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
  const running = new Set<ServiceProcess>();
  const balancer = new Balancer();
  let isLoadOver = false;

  afterAll(async () => {
    isLoadOver = true;
    balancer.close();
    for (const { child, exited } of running) {
      child.kill('SIGKILL');
      await exited;
    }
    await Promise.all(folders.map((folder) => folder.remove()));
  });

  it('are restarted one after the other without a failed request', async () => {
    const url = await balancer.listen();
    const database = await createDatabase();
    const first = await start(database);
    const second = await start(database);
    const users = Array.from({ length: USERS }, () => use(url));
    for (const old of [first, second]) {
      const replacement = await start(database);
      old.child.kill('SIGTERM');
      await eventually(() => expect(balancer.isReady(old.url)).toBe(false));
      await moreAnswers(100);
      // Ends the delay, which is longer than the test.
      old.child.kill('SIGINT');
      expect(await old.exited).toBe(0);
      running.delete(old);
      balancer.remove(old.url);
      await moreAnswers(100);
      expect(balancer.isReady(replacement.url)).toBe(true);
    }
    isLoadOver = true;
    await Promise.all(users);
    expect(balancer.failures).toEqual([]);
  });

  async function start(database: string): Promise<ServiceProcess> {
    const folder = await temporaryFolder();
    folders.push(folder);
    const replica = await startProcess(folder.path, {
      DATABASE_URL: database,
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_TOKENS: `me:admin:${TOKEN}`,
      MCP_AGGREGATOR_SHUTDOWN_DELAY: '600',
    });
    running.add(replica);
    balancer.add(replica.url);
    await eventually(() => expect(balancer.isReady(replica.url)).toBe(true));
    return replica;
  }

  const moreAnswers = async (count: number): Promise<void> => {
    const before = balancer.answered;
    await eventually(() => expect(balancer.answered - before).toBeGreaterThan(count));
  };

  /** Over REST and MCP, on a connection that is kept alive, one request after the other. */
  async function use(url: string): Promise<void> {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/list',
    };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
    while (!isLoadOver) {
      const list = await fetch(`${url}/api/v1/aggregator/servers`, { headers });
      expect([list.status, await list.text()]).toEqual([200, expect.stringContaining('servers')]);
      const body = JSON.stringify(message);
      const tools = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
      expect([tools.status, await tools.text()]).toEqual([200, expect.stringContaining('tools')]);
    }
  }
});
