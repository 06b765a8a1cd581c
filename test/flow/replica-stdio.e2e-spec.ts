import { SessionPool } from '@app/sessions';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { eventually } from '../support/eventually.js';
import { fixture, nodesWith } from '../support/peers.js';

const MARK = `SWITCHBOARD_TEST_MARK=replica-stdio-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

describe('three replicas and a STDIO server', () => {
  let cluster: BalancedReplicas;
  let id: string;

  beforeAll(async () => {
    cluster = await startBalanced(3);
    id = await cluster.register(
      {
        name: 'peer',
        transport_type: 'STDIO',
        connection_config: {
          command: process.execPath,
          args: [fixture('peer-v1.mjs'), 'stdio'],
          env: { [markName]: markValue },
        },
      },
      'peer.echo',
    );
  });
  afterAll(() => cluster.close());

  const call = async (name: string, args: object, at?: string) => {
    const response = await cluster.rest(
      'POST',
      '/api/v1/tools/call',
      { name: `peer.${name}`, arguments: args },
      at,
    );
    return { status: response.status, text: await response.text() };
  };
  const everywhere = async <T>(work: (url: string) => Promise<T>): Promise<T[]> => {
    const results: T[] = [];
    for (const { url } of cluster.replicas) results.push(await work(url));
    return results;
  };

  it('run it once, whichever of them is called', async () => {
    const answers = await everywhere((url) => call('echo', { text: 'hello' }, url));
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).toContain('"hello"');
      expect(text).not.toContain('resultType');
      expect(text).not.toContain('serverInfo');
    }
    expect(nodesWith(MARK)).toHaveLength(1);
  });

  it('deliver progress, log messages, questions and cancellations of their users', async () => {
    for (const client of [await cluster.legacyClient(), await cluster.modernClient()]) {
      for (let i = 0; i < 3; i++) {
        const heard: number[] = [];
        const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
        const count = { name: 'peer__count', arguments: { to: 3 } };
        if ('getProtocolEra' in client) await client.callTool(count, { onprogress });
        else await client.callTool(count, undefined, { onprogress });
        expect(heard).toEqual([1, 2, 3]);
        const { content } = await client.callTool({ name: 'peer__ask', arguments: {} });
        await client.callTool({ name: 'peer__log', arguments: { text: 'said' } });
        expect(JSON.stringify(content)).toContain('red');
      }
    }
    expect(nodesWith(MARK)).toHaveLength(1);
  });

  it('pass the refusal of a question on to the server, when its user cannot be asked', async () => {
    const answers = await everywhere((url) => call('ask', {}, url));
    const said = answers.map(({ status, text }) => {
      const { content, isError } = JSON.parse(text) as Record<string, unknown>;
      return { status, content, isError };
    });
    expect(said[0]).toMatchObject({ status: 200, isError: true });
    expect(said).toEqual([said[0], said[0], said[0]]);
  });

  it('cancel a call that its user has given up at another replica', async () => {
    for (const { url } of cluster.replicas) {
      const giveUp = new AbortController();
      const running = fetch(`${url}/api/v1/tools/call`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${cluster.tokens.admin}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name: 'peer.wait', arguments: { ms: 600_000 } }),
        signal: giveUp.signal,
      });
      const pending = (): number =>
        cluster.replicas.reduce((sum, { app }) => sum + app.get(SessionPool).pending(id), 0);
      await eventually(() => expect(pending()).toBeGreaterThan(0));
      giveUp.abort();
      await expect(running).rejects.toThrow();
      await eventually(() => expect(pending()).toBe(0));
    }
    await eventually(async () => {
      const { text } = await call('cancelled', {});
      expect(JSON.parse(text)).toMatchObject({ content: [{ text: '3' }] });
    });
    expect(nodesWith(MARK)).toHaveLength(1);
  });

  it('show the log of its process', async () => {
    const path = `/api/v1/aggregator/servers/${id}/logs`;
    await eventually(async () => {
      const logs = await everywhere(async (url) =>
        (await cluster.rest('GET', path, undefined, url)).text(),
      );
      expect(logs[0]?.match(/the wait was cancelled/g)).toHaveLength(3);
      expect(new Set(logs).size).toBe(1);
    });
  });

  it('start it again at the next leader, and refuse no call but for that', async () => {
    const [pid] = nodesWith(MARK);
    const leader = cluster.replicas.find(({ app }) => app.get(SessionPool).leads);
    const left = cluster.replicas.filter((replica) => replica !== leader);
    let isOver = false;
    const statuses: number[] = [];
    const callers = left.map(async ({ url }) => {
      while (!isOver) statuses.push((await call('echo', { text: 'on' }, url)).status);
    });
    await leader?.close();
    cluster.balancer.remove(leader?.url ?? '');
    await eventually(async () => {
      for (const { url } of left) {
        expect((await call('echo', { text: 'again' }, url)).status).toBe(200);
      }
      expect(nodesWith(MARK)).toHaveLength(1);
    });
    isOver = true;
    await Promise.all(callers);
    // A call waits up to 5 s for the session, which a busy machine may need for starting a process.
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(nodesWith(MARK)).not.toEqual([pid]);
  });

  it('cancel a call that waits for its user, when the replica that its user met stops', async () => {
    const left = cluster.replicas.slice(1);
    const leader = left.find(({ app }) => app.get(SessionPool).leads);
    const follower = left.find((replica) => replica !== leader);
    const params = {
      name: 'peer__ask',
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      },
    };
    const response = await fetch(`${follower?.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${cluster.tokens.alice}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'peer__ask',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(await response.text()).toContain('requestState');
    expect(leader?.app.get(SessionPool).pending(id)).toBe(1);
    await follower?.close();
    await eventually(() => expect(leader?.app.get(SessionPool).pending(id)).toBe(0));
  });
});
