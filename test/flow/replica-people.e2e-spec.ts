import { createHash } from 'node:crypto';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer, nodesWith } from '../support/peers.js';

const MARK = `SWITCHBOARD_TEST_MARK=replica-people-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

const people = ['alice', 'bob'] as const;
type Name = (typeof people)[number];
const keyOf = (name: Name): string => `key-of-${name}-83jf74`;
const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

describe('three replicas and people with credentials of their own', () => {
  let cluster: BalancedReplicas;
  let peer: HttpPeer;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    cluster = await startBalanced(3);
    peer = await httpPeer('whose.mjs', ['http']);
    ids['local'] = await cluster.register(
      {
        name: 'local',
        transport_type: 'STDIO',
        credentials: 'per_user',
        connection_config: {
          command: process.execPath,
          args: [fixture('whose.mjs'), 'stdio'],
          env: { [markName]: markValue, API_KEY: '${user.API_KEY}' },
        },
      },
      'local.whose',
    );
    ids['remote'] = await cluster.register(
      {
        name: 'remote',
        transport_type: 'HTTP',
        credentials: 'per_user',
        connection_config: { base_url: peer.url, headers: { 'x-api-key': '${user.API_KEY}' } },
      },
      'remote.whose',
    );
  });
  afterAll(async () => {
    await cluster.close();
    await peer.stop();
  });

  const ask = (url: string, name: Name, method: string, path: string, body?: object) =>
    send(url, path, {
      method,
      token: cluster.tokens[name],
      ...(body && { body: JSON.stringify(body) }),
    });
  const call = (url: string, name: Name, server: string) =>
    ask(url, name, 'POST', '/api/v1/tools/call', { name: `${server}.whose`, arguments: {} });
  const whoseIn = (text: string): unknown => {
    const { content } = JSON.parse(text) as { content: [{ text: string }] };
    return JSON.parse(content[0].text) as unknown;
  };
  const connect = (url: string, name: Name, server: string, key = keyOf(name)) =>
    ask(url, name, 'PUT', `/api/v1/me/connections/${ids[server]}`, { values: { API_KEY: key } });

  it('run a program once for each of them, whichever replica is called', async () => {
    const [first] = cluster.replicas;
    for (const name of people) {
      expect((await connect(first?.url ?? '', name, 'local')).status).toBe(200);
      const sessions = new Set<unknown>();
      for (const { url } of cluster.replicas) {
        const { status, text } = await call(url, name, 'local');
        expect({ status, text }).toMatchObject({ status: 200 });
        const said = whoseIn(text) as { whose: string; session: string };
        expect(said.whose).toBe(digest(keyOf(name)));
        sessions.add(said.session);
      }
      expect(sessions.size).toBe(1);
    }
    // Theirs, and the shared one for discovery.
    expect(nodesWith(MARK)).toHaveLength(1 + people.length);
  });

  it('use new credentials everywhere within a second, and withdrawn ones nowhere', async () => {
    for (const server of ['local', 'remote']) {
      const [first] = cluster.replicas;
      await connect(first?.url ?? '', 'alice', server);
      const everywhere = (expected: object): Promise<void> =>
        eventually(async () => {
          for (const { url } of cluster.replicas) {
            const { status, text } = await call(url, 'alice', server);
            expect({ status, ...(status === 200 && { said: whoseIn(text) }) }).toMatchObject(
              expected,
            );
          }
        });
      await everywhere({ status: 200, said: { whose: digest(keyOf('alice')) } });
      await connect(first?.url ?? '', 'alice', server, 'another-key-74jf');
      await everywhere({ status: 200, said: { whose: digest('another-key-74jf') } });
      await ask(first?.url ?? '', 'alice', 'DELETE', `/api/v1/me/connections/${ids[server]}`);
      await everywhere({ status: 409 });
    }
  });
});
