import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SessionPool } from '@app/sessions';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { eventually } from '../support/eventually.js';
import { fixture } from '../support/peers.js';

interface Listener {
  readonly client: Client;
  /** What it was told outside of its calls. */
  readonly heard: readonly { readonly method: string; readonly params?: unknown }[];
}

describe('what a STDIO server says outside of calls', () => {
  let cluster: BalancedReplicas;
  /** Of replicas that do not lead. */
  let followers: readonly string[];
  let leader: string;
  const transports: StreamableHTTPClientTransport[] = [];

  beforeAll(async () => {
    cluster = await startBalanced(3);
    await cluster.register(
      {
        name: 'later',
        transport_type: 'STDIO',
        connection_config: { command: process.execPath, args: [fixture('says-later.mjs')] },
      },
      'later.log',
    );
    const leading = cluster.replicas.filter(({ app }) => app.get(SessionPool).leads);
    leader = leading[0]?.url ?? '';
    followers = cluster.replicas.filter((one) => !leading.includes(one)).map(({ url }) => url);
  });
  afterEach(async () => {
    for (const transport of transports.splice(0)) {
      await transport.terminateSession();
      await transport.close();
    }
  });
  afterAll(() => cluster.close());

  async function listenAt(url: string | undefined, user: 'alice' | 'bob'): Promise<Listener> {
    const heard: { method: string; params?: unknown }[] = [];
    const client = new Client({ name: 'listener', version: '1' });
    client.fallbackNotificationHandler = (notice) => Promise.resolve(void heard.push(notice));
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${cluster.tokens[user]}` } },
    });
    transports.push(transport);
    // The SDK's own types conflict with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    await client.setLoggingLevel('debug');
    return { client, heard };
  }
  const call = ({ client }: Listener, tool: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name: `later__${tool}`, arguments: args });
  const logsOf = ({ heard }: Listener): unknown[] =>
    heard.filter(({ method }) => method === 'notifications/message').map(({ params }) => params);

  it('reaches its user at every replica, and no other user', async () => {
    const alice = await Promise.all([leader, ...followers].map((url) => listenAt(url, 'alice')));
    const bob = await Promise.all([leader, ...followers].map((url) => listenAt(url, 'bob')));
    for (const [at, caller] of alice.entries()) {
      const data = `said after call ${at}`;
      // A client may hear only once its stream is open, which it does not wait for.
      await eventually(async () => {
        await call(caller, 'log', { text: data });
        for (const listener of alice) {
          expect(logsOf(listener)).toContainEqual(expect.objectContaining({ data }));
        }
      });
    }
    expect(bob.map(logsOf)).toEqual([[], [], []]);
  });

  it('tells the client at another replica that its page is done, and no other', async () => {
    const asked = await listenAt(followers[0], 'alice');
    const others = [await listenAt(followers[0], 'bob'), await listenAt(followers[1], 'alice')];
    const done = {
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'page' },
    };
    await eventually(async () => {
      await call(asked, 'open', { id: 'page' }).catch(() => undefined);
      expect(asked.heard).toContainEqual(expect.objectContaining(done));
    });
    for (const { heard } of others) {
      expect(heard).not.toContainEqual(expect.objectContaining({ method: done.method }));
    }
  });

  it('follows the level that a client at another replica sets', async () => {
    const listener = await listenAt(followers[1], 'alice');
    for (const level of ['critical', 'warning'] as const) {
      await listener.client.setLoggingLevel(level);
      await eventually(async () => {
        expect(JSON.stringify(await call(listener, 'level'))).toContain(level);
      });
    }
  });
});
