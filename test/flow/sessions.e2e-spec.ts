import { Database } from '@app/platform';
import { SessionPool } from '@app/sessions';
import type { UpstreamTarget } from '@app/mcp-client';
import { eventually } from '../support/eventually.js';
import { startHoldingServer } from '../support/holding-server.js';
import {
  fixture,
  httpPeer,
  killAll,
  nodesWith,
  processesWith,
  stdioPeer,
} from '../support/peers.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';

const MARK = `SWITCHBOARD_TEST_MARK=${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

const registration = (name: string, target: UpstreamTarget & { kind: 'STDIO' }): object => ({
  name,
  transport_type: 'STDIO',
  connection_config: {
    command: target.command,
    args: target.args,
    env: { ...target.env, [markName]: markValue },
  },
});

describe('connections, seen from outside', () => {
  let service: TestApp;
  let pool: SessionPool;
  let api: Api;

  beforeAll(async () => {
    service = await startApp();
    pool = service.app.get(SessionPool);
    api = new Api(service);
  });
  afterAll(async () => {
    await service.close();
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  const echo = (id: string, text: string): Promise<unknown> => {
    const session = pool.get(id);
    if (!session) throw new Error('no session');
    const params = { name: 'echo', arguments: { text } };
    return session.request('tools/call', params, { timeoutMs: 60_000 });
  };

  it('a server that asks its callers is known to, until it has another configuration', async () => {
    const target = stdioPeer(fixture('crossing.mjs'), ['stdio']);
    const asking = registration('asking', target);
    const id = await api.register(asking);
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    const known = async (): Promise<unknown> =>
      service.app
        .get(Database, { strict: false })
        .direct.query('SELECT asks_callers FROM mcp.external_servers WHERE id = $1', [id]);
    const user = { principal: 'ada', client: {} };
    const params = { name: 'work', arguments: { for: 'ada', n: 1, do: ['question'] } };
    expect(await known()).toEqual([{ asks_callers: false }]);
    await pool.get(id)?.request('tools/call', params, { timeoutMs: 60_000, caller: user });
    await eventually(async () => expect(await known()).toEqual([{ asks_callers: true }]));
    const connection_config = { command: target.command, args: [...target.args, 'other'] };
    expect((await api.call('PATCH', `/servers/${id}`, { connection_config })).status).toBe(200);
    expect(await known()).toEqual([{ asks_callers: false }]);
    await api.call('DELETE', `/servers/${id}`);
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  it('registering connects, disconnecting ends every process, connecting begins again', async () => {
    const id = await api.register(
      registration('story', stdioPeer(fixture('peer-v1.mjs'), ['stdio'], { SECRET: 'hunter-22' })),
    );
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    await expect(echo(id, 'hello')).resolves.toMatchObject({ content: [{ text: 'hello' }] });

    const again = await api.call('POST', `/servers/${id}/connect`);
    expect(again).toMatchObject({
      status: 200,
      body: { server_id: id, status: 'CONNECTED', message: 'Server already connected' },
    });
    const gone = await api.call('POST', `/servers/${id}/disconnect`);
    expect(gone).toMatchObject({
      status: 200,
      body: { server_id: id, status: 'DISCONNECTED', pending_requests: 0 },
    });
    expect(await api.status(id)).toBe('DISCONNECTED');
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
    expect((await api.call('POST', `/servers/${id}/disconnect`)).body['status']).toBe(
      'DISCONNECTED',
    );
    const back = await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    expect(back.body).toMatchObject({ status: 'CONNECTED', message: 'Server connected' });
    expect(await api.history(id)).toEqual([
      'REGISTERED',
      'CONNECTING',
      'CONNECTED',
      'DISCONNECTED',
      'CONNECTING',
      'CONNECTED',
    ]);
    await api.call('POST', `/servers/${id}/disconnect`);
  });

  it('disconnecting waits for pending calls, refuses new ones, and cancels when forced', async () => {
    const peer = await startHoldingServer();
    const id = await api.register({
      name: 'busy',
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    /** A call that runs until it is released or cancelled. */
    const pendingCall = async (): Promise<() => Promise<unknown>> => {
      const options = { timeoutMs: 300_000, caller: { principal: 'ada', client: {} } };
      const answer = pool.get(id)?.request('tools/call', { name: 'wait', arguments: {} }, options);
      await eventually(() => expect(peer.held()).toBe(1));
      return async () => answer;
    };
    const released = await pendingCall();
    const first = await api.call('POST', `/servers/${id}/disconnect`);
    expect(first.body).toMatchObject({ status: 'DISCONNECTING', pending_requests: 1 });
    expect(pool.get(id)).toBeUndefined();
    peer.release('waited');
    await expect(released()).resolves.toMatchObject({ content: [{ text: 'waited' }] });
    await eventually(async () => expect(await api.status(id)).toBe('DISCONNECTED'));

    await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    const cancelled = await pendingCall();
    const refused = expect(cancelled()).rejects.toMatchObject({ kind: 'unavailable' });
    const forced = await api.call('POST', `/servers/${id}/disconnect`, { force: true });
    expect(forced.body).toMatchObject({ status: 'DISCONNECTED', pending_requests: 0 });
    await refused;
    peer.close();
  });

  it('a killed server fails its pending calls at once, and the next call reconnects it', async () => {
    const id = await api.register(
      registration('dies', stdioPeer(fixture('peer-v1.mjs'), ['stdio'])),
    );
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    const waiting = pool
      .get(id)
      ?.request('tools/call', { name: 'wait', arguments: { ms: 300_000 } }, { timeoutMs: 300_000 });
    const failed = expect(waiting).rejects.toMatchObject({
      kind: 'unavailable',
      context: { outcome: 'unknown' },
    });
    killAll(nodesWith(MARK));
    await failed;
    const server = { id, name: 'dies', status: 'ERROR' as const };
    const sessions = await Promise.all(
      Array.from({ length: 200 }, () => pool.acquire(server, 60_000)),
    );
    expect(new Set(sessions).size).toBe(1);
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    expect(await api.history(id)).toEqual(
      expect.arrayContaining(['ERROR', 'RECONNECT', 'CONNECTING', 'CONNECTED']),
    );
    await api.call('DELETE', `/servers/${id}`);
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  it('a server that cannot be started is an ERROR that says why', async () => {
    const id = await api.register({
      name: 'missing',
      transport_type: 'STDIO',
      connection_config: { command: 'no-such-program-here' },
      auto_connect: false,
    });
    const answer = await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    expect(answer.body['status']).toBe('ERROR');
    expect(String(answer.body['message'])).toContain('no-such-program-here');
    await api.call('DELETE', `/servers/${id}`);
  });

  it('a server that cannot be reached is an ERROR that says why, and is tried again', async () => {
    const id = await api.register({
      name: 'unreachable',
      transport_type: 'HTTP',
      connection_config: { base_url: 'http://127.0.0.1:1/mcp' },
      auto_connect: false,
    });
    const { body } = await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    expect(body).toEqual({
      server_id: id,
      status: 'ERROR',
      message: 'Connecting failed: Connection refused (ECONNREFUSED)',
    });
    await eventually(async () => {
      const events = await api.history(id);
      expect(events.slice(-4)).toEqual(['ERROR', 'RECONNECT', 'CONNECTING', 'ERROR']);
    });
    await api.call('DELETE', `/servers/${id}`);
  });

  it('refused credentials are an ERROR that says so, without another attempt', async () => {
    const peer = await httpPeer('refusing.mjs');
    const id = await api.register({
      name: 'refusing',
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    await eventually(async () => expect(await api.status(id)).toBe('ERROR'));
    const { body } = await api.call('GET', `/servers/${id}`);
    expect(body['error_message']).toContain('refused the credentials');
    await eventually(async () => {
      const audit = await api.call('GET', '/audit?limit=500');
      expect(JSON.stringify(audit.body)).toContain('server.credentials_refused');
    });
    expect(await api.history(id)).toEqual(['REGISTERED', 'CONNECTING', 'ERROR']);
    await api.call('DELETE', `/servers/${id}`);
    await peer.stop();
  });

  it('the log of a process is shown without its secrets', async () => {
    const script =
      'process.stderr.write("my key is " + process.env.KEY + "\\n"); console.log("no json");' +
      'process.stdin.resume()';
    const id = await api.register({
      name: 'chatty',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: ['-e', script],
        env: { KEY: 'very-secret-value', [markName]: markValue },
      },
    });
    await eventually(async () => {
      const { body } = await api.call('GET', `/servers/${id}/logs`);
      expect(body['lines']).toEqual(['my key is ********', '[stdout] no json']);
    });
    await api.call('DELETE', `/servers/${id}`);
  });

  it('unknown servers and wrong waits are refused', async () => {
    const unknownId = '550e8400-e29b-41d4-a716-446655440000';
    for (const path of ['connect', 'disconnect']) {
      expect((await api.call('POST', `/servers/${unknownId}/${path}`)).status).toBe(404);
      expect((await api.call('POST', `/servers/${unknownId}/${path}?wait_seconds=61`)).status).toBe(
        422,
      );
    }
    expect((await api.call('GET', `/servers/${unknownId}/logs`)).status).toBe(404);
  });
});
