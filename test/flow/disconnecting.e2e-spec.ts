import { Database } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const connection = { command: process.execPath, args: [fixture('peer-v1.mjs'), 'stdio'] };

async function register(api: Api, name: string): Promise<string> {
  const id = await api.register({ name, transport_type: 'STDIO', connection_config: connection });
  await eventually(async () => {
    const { body } = await api.call('GET', `/servers/${id}`);
    expect(body).toMatchObject({ status: 'CONNECTED' });
    expect(body['tool_count']).toBeGreaterThan(0);
  });
  return id;
}

const post = (service: TestApp, path: string, body: object): Promise<Answer> =>
  send(service.url, path, { method: 'POST', token: service.token, body: JSON.stringify(body) });
const call = (service: TestApp, name: string, args: object): Promise<Answer> =>
  post(service, '/api/v1/tools/call', { name, arguments: args });

/** A call that runs until its session is closed. */
async function pendingCall(
  service: TestApp,
  name: string,
  id: string,
): Promise<() => Promise<Answer>> {
  const answer = call(service, `${name}.wait`, { ms: 50_000 });
  await eventually(() => expect(service.app.get(SessionPool).pending(id)).toBe(1));
  return () => answer;
}

const counts = async (api: Api): Promise<unknown> => (await api.call('GET', '/state')).body;
const named = async (api: Api, status: string): Promise<unknown> => {
  const { body } = await api.call('GET', `/servers?status=${status}`);
  return (body['servers'] as { name: string }[]).map(({ name }) => name);
};

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('a server that is being disconnected, on %s', (_engine, settings) => {
  let service: TestApp;
  let api: Api;
  let id: string;

  beforeAll(async () => {
    service = await startApp({ MCP_AGGREGATOR_HEALTH_INTERVAL: '0.3', ...settings });
    api = new Api(service);
    id = await register(api, 'leaving');
  });
  afterAll(() => service.close());

  it('is DISCONNECTING in status, lists, counts and search until its calls have ended', async () => {
    const pending = await pendingCall(service, 'leaving', id);
    const { body } = await api.call('POST', `/servers/${id}/disconnect`);
    expect(body).toMatchObject({ status: 'DISCONNECTING', pending_requests: 1 });

    expect(await api.status(id)).toBe('DISCONNECTING');
    expect([await named(api, 'disconnecting'), await named(api, 'CONNECTED')]).toEqual([
      ['leaving'],
      [],
    ]);
    expect(await counts(api)).toMatchObject({ connected_servers: 0, disconnecting_servers: 1 });
    const { body: found } = await post(service, '/api/v1/search', { query: 'echo a text' });
    expect(found).toMatchObject({
      metadata: { excluded_servers: [{ name: 'leaving', status: 'DISCONNECTING' }] },
    });
    expect(await call(service, 'leaving.echo', { text: 'x' })).toMatchObject({
      status: 503,
      body: { server: { status: 'DISCONNECTING' } },
    });

    await api.call('POST', `/servers/${id}/disconnect`, { force: true });
    expect(await pending()).toMatchObject({
      status: 503,
      body: { context: { outcome: 'unknown' } },
    });
    expect(await api.status(id)).toBe('DISCONNECTED');
    expect((await api.history(id)).slice(-2)).toEqual(['DISCONNECTING', 'DISCONNECTED']);
  });

  it('keeps its session and its pending call when it is connected again meanwhile', async () => {
    await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    await pendingCall(service, 'leaving', id);
    await api.call('POST', `/servers/${id}/disconnect`);
    const { body } = await api.call('POST', `/servers/${id}/connect?wait_seconds=60`);
    expect(body).toMatchObject({ status: 'CONNECTED' });
    expect(service.app.get(SessionPool).pending(id)).toBe(1);
    expect(await call(service, 'leaving.echo', { text: 'still here' })).toMatchObject({
      status: 200,
    });
  });

  it('goes from CONNECTED to DISCONNECTED at once when it is forced', async () => {
    const { body } = await api.call('POST', `/servers/${id}/disconnect`, { force: true });
    expect(body).toMatchObject({ status: 'DISCONNECTED', pending_requests: 0 });
    expect((await api.history(id)).slice(-2)).toEqual(['CONNECTED', 'DISCONNECTED']);
  });

  it('becomes DISCONNECTED although the process that disconnected it was killed', async () => {
    await service.app
      .get(Database)
      .direct.query(`UPDATE mcp.external_servers SET status = 'DISCONNECTING' WHERE id = $1`, [id]);
    await eventually(async () => expect(await api.status(id)).toBe('DISCONNECTED'));
  });
});

describe('a server that is being disconnected, with two replicas', () => {
  let leader: TestApp;
  let follower: TestApp;
  let id: string;

  beforeAll(async () => {
    const settings = { DATABASE_URL: await createDatabase() };
    leader = await startApp(settings);
    follower = await startApp(settings);
    id = await register(new Api(follower), 'shared');
  });
  afterAll(async () => {
    await follower.close();
    await leader.close();
  });

  it('is DISCONNECTING at both while a call at the leader runs, also when the follower was asked', async () => {
    const pending = await pendingCall(leader, 'shared', id);
    const { body } = await new Api(follower).call('POST', `/servers/${id}/disconnect`);
    expect(body).toMatchObject({ status: 'DISCONNECTING' });
    for (const api of [new Api(leader), new Api(follower)]) {
      expect(await api.status(id)).toBe('DISCONNECTING');
      await eventually(async () =>
        expect(await counts(api)).toMatchObject({ disconnecting_servers: 1 }),
      );
    }
    await eventually(() => expect(leader.app.get(SessionPool).get(id)).toBeUndefined());
    await new Api(follower).call('POST', `/servers/${id}/disconnect`, { force: true });
    expect(await pending()).toMatchObject({ status: 503 });
    await eventually(async () => expect(await new Api(leader).status(id)).toBe('DISCONNECTED'));
  });

  it('is refused by a replica with its own session as soon as that is notified', async () => {
    await new Api(leader).call('POST', `/servers/${id}/connect?wait_seconds=60`);
    await eventually(async () =>
      expect(await call(follower, 'shared.echo', { text: 'x' })).toMatchObject({ status: 200 }),
    );
    await new Api(leader).call('POST', `/servers/${id}/disconnect`);
    await eventually(() => expect(follower.app.get(SessionPool).get(id)).toBeUndefined());
    expect(await call(follower, 'shared.echo', { text: 'x' })).toMatchObject({ status: 503 });
  });
});
