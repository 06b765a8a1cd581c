import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EndPersonSessionsJob } from '../../libs/sessions/src/persons/end-person-sessions.job.js';
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

  describe('whose program runs at another replica than they ask', () => {
    const [elsewhere, last] = [1, 2] as const;
    const at = (index: number): string => cluster.replicas[index]?.url ?? '';
    interface Said {
      readonly whose: string;
      readonly folder: string;
      readonly session: string;
    }
    const said = async (token: string): Promise<Said> => {
      const body = JSON.stringify({ name: 'local.whose', arguments: {} });
      const answer = await send(at(last), '/api/v1/tools/call', { method: 'POST', token, body });
      if (answer.status !== 200) throw new Error(answer.text);
      return whoseIn(answer.text) as Said;
    };
    const give = async (token: string, key: string): Promise<void> => {
      const body = JSON.stringify({ values: { API_KEY: key } });
      const path = `/api/v1/me/connections/${ids['local']}`;
      expect((await send(at(elsewhere), path, { method: 'PUT', token, body })).status).toBe(200);
    };
    /** The former key may be used for a second. */
    const saidBy = async (token: string, name: Name): Promise<Said> => {
      let found: Said | undefined;
      await eventually(async () => {
        found = await said(token);
        expect(found.whose).toBe(digest(keyOf(name)));
      });
      if (!found) throw new Error('the program was not called');
      return found;
    };
    /** Nothing calls the server meanwhile: no call finds out. */
    const isGone = ({ folder }: Said, processes: number): Promise<void> =>
      eventually(() => {
        expect(existsSync(folder)).toBe(false);
        expect(nodesWith(MARK)).toHaveLength(processes);
      });

    it.each([
      ['disconnect', 'DELETE', ''],
      ['let their credentials expire', 'POST', '/expire'],
    ])('leave no process and no folder when they %s', async (_, method, suffix) => {
      const token = cluster.tokens.alice;
      await give(token, keyOf('alice'));
      const before = await saidBy(token, 'alice');
      const processes = nodesWith(MARK).length;
      expect(existsSync(before.folder)).toBe(true);
      const path = `/api/v1/me/connections/${ids['local']}${suffix}`;
      expect((await send(at(elsewhere), path, { method, token })).status).toBe(204);
      await isGone(before, processes - 1);
    });

    it('leave no process and no folder when their token is revoked', async () => {
      const body = JSON.stringify({ name: 'eve', scopes: ['call'] });
      const path = '/api/v1/aggregator/tokens';
      const { admin } = cluster.tokens;
      const made = await send(at(elsewhere), path, { method: 'POST', token: admin, body });
      const { id, token } = made.body as { id: string; token: string };
      await eventually(() => give(token, 'key-of-eve-83jf74'));
      let before: Said | undefined;
      await eventually(async () => void (before = await said(token)));
      const processes = nodesWith(MARK).length;
      const revoked = await send(at(elsewhere), `${path}/${id}`, {
        method: 'DELETE',
        token: admin,
      });
      expect(revoked.status).toBe(204);
      if (!before) throw new Error('the program was not called');
      await isGone(before, processes - 1);
    });

    it('keep their folder, and no process with the former key, when they give another', async () => {
      const token = cluster.tokens.alice;
      await give(token, keyOf('alice'));
      const before = await saidBy(token, 'alice');
      const processes = nodesWith(MARK).length;
      await give(token, 'another-key-93jf');
      await eventually(() => expect(nodesWith(MARK)).toHaveLength(processes - 1));
      expect(existsSync(before.folder)).toBe(true);
      const now = await said(token);
      expect(now).toMatchObject({ whose: digest('another-key-93jf'), folder: before.folder });
      expect(now.session).not.toBe(before.session);
    });

    it('leave no folder that a killed replica has left', async () => {
      const { folder } = await said(cluster.tokens.alice);
      const lost = join(dirname(folder), 'a'.repeat(64));
      await mkdir(lost);
      await cluster.replicas[0]?.app.get(EndPersonSessionsJob, { strict: false }).sweepAll();
      expect([existsSync(lost), existsSync(folder)]).toEqual([false, true]);
    });
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
