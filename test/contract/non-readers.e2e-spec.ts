import { readFileSync } from 'node:fs';
import { NonReader } from '../fixtures/non-reader.js';
import { Api } from '../support/api.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type HoldingServer, startHoldingServer } from '../support/holding-server.js';
import { send } from '../support/http.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const HUGE_BYTES = 9_000_000;
const TOKENS = { alice: 'alice-token-of-this-test', bob: 'bob-token-of-this-test-too' };

/** Many responses of 9 MB, with a heap of 512 MB and a budget of 64 MB. */
describe('clients that never read their answers', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  let peer: HoldingServer;
  const readers: NonReader[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder();
    peer = await startHoldingServer();
    service = await startProcess(folder.path, {
      NODE_OPTIONS: '--max-old-space-size=512',
      // On a busy machine 20 answers of 9 MB take longer than a minute.
      MCP_AGGREGATOR_REQUEST_TIMEOUT: '600',
      MCP_AGGREGATOR_TOKENS: Object.entries(TOKENS)
        .map(([name, token]) => `${name}:admin:${token}`)
        .join(),
      MCP_AGGREGATOR_UNSENT_BYTES: '64000000',
    });
    const api = new Api({ url: service.url, token: TOKENS.alice });
    await api.register({
      name: 'peer',
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    await eventually(async () =>
      expect((await api.call('GET', '/state')).body).toMatchObject({ total_tools: 1 }),
    );
  });
  afterAll(async () => {
    for (const reader of readers) reader.close();
    service.child.kill('SIGKILL');
    await service.exited;
    peer.close();
    await folder.remove();
  });

  const residentMb = (): number => {
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  };
  const reader = (path: string): NonReader => {
    const one = new NonReader(new URL(path, service.url), {
      authorization: `Bearer ${TOKENS.alice}`,
    });
    readers.push(one);
    return one;
  };
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };

  const metric = async (name: string): Promise<number> => {
    const { text } = await send(service.url, '/metrics', { token: TOKENS.bob });
    const values = text.split('\n').filter((line) => line.startsWith(name));
    return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };

  it('are cut, in both eras and over REST, and others are served', async () => {
    const modern = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'peer__wait',
    };
    const params = { name: 'peer__wait', arguments: {}, _meta: envelope };
    const text = 'x'.repeat(HUGE_BYTES);
    for (let round = 1; round <= 6; round++) {
      for (let i = 0; i < 10; i++) {
        reader('/mcp').post({ jsonrpc: '2.0', id: i, method: 'tools/call', params }, modern);
        reader('/api/v1/tools/call').post({ name: 'peer.wait', arguments: {} });
      }
      await eventually(() => expect(peer.held()).toBe(20));
      peer.release(text);
      await eventually(async () =>
        expect(await metric('mcp_aggregator_client_limits_total')).toBeGreaterThan(20 * round - 9),
      );
      expect(await metric('mcp_aggregator_unsent_bytes')).toBeLessThanOrEqual(64_000_000);
    }
    const answering = send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: TOKENS.bob,
      body: JSON.stringify({ name: 'peer.wait', arguments: {} }),
    });
    await eventually(() => expect(peer.held()).toBe(1));
    peer.release(text);
    const answer = await answering;
    expect([answer.status, answer.text.length > HUGE_BYTES]).toEqual([200, true]);
    expect(service.output()).toContain('client.limit_reached');
    // 121 responses alone would be 1,090 MB in addition to the 220 MB of the idle service; garbage waits below 750 MB.
    await eventually(() => expect(residentMb()).toBeLessThan(1_000));
  });
});
