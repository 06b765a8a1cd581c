import { Database, RowWatches } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { SyncTokensJob } from '../../libs/access/src/tokens/sync-tokens.job.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { listenStream, standingStream } from '../support/client-streams.js';
import { commandLine } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { createDatabase } from '../support/postgres.js';

const SERVERS = '/api/v1/aggregator/servers';

interface Issued {
  readonly id: string;
  readonly token: string;
}

const statusOf = async ({ url }: TestApp, token: string, path = SERVERS): Promise<number> =>
  (await send(url, path, { token })).status;

async function issue(service: TestApp, body: object): Promise<Issued> {
  const answer = await new Api(service).call('POST', '/tokens', body);
  expect(answer).toMatchObject({
    status: 201,
    body: { token: expect.stringMatching(/^switchboard_/) },
  });
  return answer.body as unknown as Issued;
}

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('tokens that are issued, on %s', (_, settings) => {
  let service: TestApp;
  let api: Api;

  beforeAll(async () => {
    service = await startApp(settings);
    api = new Api(service);
  });
  afterAll(() => service.close());

  const job = async (): Promise<void> => {
    await service.app.get(SyncTokensJob, { strict: false }).noteUse();
    await service.app.get(RowWatches, { strict: false }).look();
  };

  it('are shown once, do what their scopes say, and are listed beside the configured ones', async () => {
    const { id, token } = await issue(service, { name: 'ci', scopes: ['read'] });
    expect(await statusOf(service, token)).toBe(200);
    const calls = await send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token,
      body: '{"name":"no.tool","arguments":{}}',
    });
    expect(calls.status).toBe(403);
    expect(await statusOf(service, token, '/api/v1/aggregator/tokens')).toBe(403);

    const listed = await api.call('GET', '/tokens');
    expect(listed.body).toMatchObject({ total: 5 });
    expect(listed.body['tokens']).toEqual([
      expect.objectContaining({ name: 'admin', id: null, scopes: ['admin'], created_by: null }),
      expect.objectContaining({ name: 'call', id: null, role: 'caller' }),
      expect.objectContaining({
        name: 'ci',
        id,
        role: 'viewer',
        scopes: ['read'],
        created_by: 'admin',
      }),
      expect.objectContaining({ name: 'operate', id: null, role: 'operator' }),
      expect.objectContaining({ name: 'read', id: null }),
    ]);
    const one = await api.call('GET', `/tokens/${id}`);
    expect(one).toMatchObject({ status: 200, body: { id, name: 'ci', expires_at: null } });
    const hashes = await service.app
      .get(Database, { strict: false })
      .direct.query<{ token_hash: string }[]>('SELECT token_hash FROM mcp.issued_tokens');
    for (const secret of [token, ...hashes.map((row) => row.token_hash)]) {
      expect(JSON.stringify([listed, one])).not.toContain(secret);
    }
  });

  it.each([
    ['viewer', 'read', [200, 403, 403, 403]],
    ['caller', 'call', [200, 404, 403, 403]],
    ['operator', 'operate', [200, 404, 404, 403]],
    ['admin', 'admin', [200, 404, 404, 422]],
  ])('are issued with the role %s, which is the scope %s', async (role, scope, statuses) => {
    const name = `role-${role}`;
    const answer = await api.call('POST', '/tokens', { name, role });
    expect(answer).toMatchObject({ status: 201, body: { name, role, scopes: [scope] } });
    const token = String(answer.body['token']);
    const post = (path: string, body: string) =>
      send(service.url, path, { method: 'POST', token, body });
    const answers = [
      await send(service.url, '/api/v1/aggregator/me', { token }),
      await post('/api/v1/tools/call', '{"name":"no.tool","arguments":{}}'),
      await post(`/api/v1/aggregator/servers/${randomUUID()}/connect`, ''),
      await post('/api/v1/aggregator/tokens', '{}'),
    ];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    expect(answers[0]?.body).toMatchObject({ name, role, subjects: [`token:${name}`], view: null });
  });

  it.each([
    ['a role and scopes', { name: 'x', role: 'viewer', scopes: ['read'] }, 422],
    ['neither a role nor scopes', { name: 'x' }, 422],
    ['an unknown role', { name: 'x', role: 'root' }, 422],
    ['a name that is taken', { name: 'ci', scopes: ['read'] }, 409],
    ['the name of a configured token', { name: 'admin', scopes: ['read'] }, 409],
    ['a name of the service', { name: 'system', scopes: ['read'] }, 422],
    ['a name that could be a JWT', { name: 'jwt:ada', scopes: ['read'] }, 422],
    ['no scope', { name: 'x', scopes: [] }, 422],
    ['an unknown scope', { name: 'x', scopes: ['root'] }, 422],
    ['an expiry in the past', { name: 'x', scopes: ['read'], expires_in_seconds: -1 }, 422],
    ['a secret of their own', { name: 'x', scopes: ['read'], token: 'my-own-secret' }, 422],
  ])('are refused with %s', async (_what, body, status) => {
    expect((await api.call('POST', '/tokens', body)).status).toBe(status);
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ])('are 404 under an unknown id: %s %s', async (method, path) => {
    for (const id of [randomUUID(), 'no-uuid']) {
      const answer = await api.call(
        method,
        `/tokens/${id}${path}`,
        method === 'POST' ? {} : undefined,
      );
      expect(answer).toMatchObject({ status: 404, body: { error_code: 'TOKEN_NOT_FOUND' } });
    }
  });

  it('are rotated with an overlap in which both secrets are accepted', async () => {
    const old = await issue(service, { name: 'rotated', scopes: ['read'] });
    const rotate = async (overlap_seconds: number): Promise<string> => {
      const answer = await api.call('POST', `/tokens/${old.id}/rotate`, { overlap_seconds });
      expect(answer).toMatchObject({ status: 200, body: { id: old.id, name: 'rotated' } });
      return String(answer.body['token']);
    };
    const second = await rotate(60);
    expect(await statusOf(service, old.token)).toBe(200);
    expect(await statusOf(service, second)).toBe(200);
    const third = await rotate(0);
    expect(await statusOf(service, old.token)).toBe(401);
    expect(await statusOf(service, second)).toBe(401);
    expect(await statusOf(service, third)).toBe(200);
  });

  it('are refused from their expiry on, and their streams end', async () => {
    const { id, token } = await issue(service, {
      name: 'short',
      scopes: ['read'],
      expires_in_seconds: 60,
    });
    const stream = await standingStream({ ...service, token });
    await service.app
      .get(Database, { strict: false })
      .direct.query(`UPDATE mcp.issued_tokens SET expires_at = now() WHERE id = $1`, [id]);
    await job();
    expect(await statusOf(service, token)).toBe(401);
    await stream.text();
  });

  it('are refused by the request after they were revoked, and their sessions and streams have ended', async () => {
    const { id, token } = await issue(service, { name: 'leaked', scopes: ['call'] });
    const streams = await Promise.all([
      standingStream({ ...service, token }),
      listenStream({ ...service, token }),
      standingStream({ ...service, token: service.tokens.call }),
    ]);
    expect(await api.call('DELETE', `/tokens/${id}`)).toMatchObject({ status: 204 });
    expect(await statusOf(service, token)).toBe(401);
    expect(await statusOf(service, token, '/mcp')).toBe(401);
    const [standing, listening, ofAnother] = streams;
    // They end: reading them resolves.
    await standing.text();
    await listening.text();
    expect(await statusOf(service, service.tokens.call)).toBe(200);
    const reader = ofAnother.body?.getReader();
    const more = reader?.read().then(({ done }) => (done ? 'ended' : 'open'));
    expect(await Promise.race([more, job().then(() => 'open')])).not.toBe('ended');
    await reader?.cancel();
    expect(await api.call('DELETE', `/tokens/${id}`)).toMatchObject({ status: 404 });
  });

  it('say when they were used last', async () => {
    const { id, token } = await issue(service, { name: 'used', scopes: ['read'] });
    await job();
    expect((await api.call('GET', `/tokens/${id}`)).body['last_used_at']).toBeNull();
    await statusOf(service, token);
    await job();
    const { body } = await api.call('GET', `/tokens/${id}`);
    expect(Date.parse(String(body['last_used_at']))).toBeLessThanOrEqual(Date.now());
  });

  it('stand in the audit log with every change, without their secrets', async () => {
    const { body } = await api.call('GET', '/audit?limit=500');
    const entries = body['entries'] as { event: string; details: { token?: string } }[];
    const about = (name: string): string[] =>
      entries.filter(({ details }) => details.token === name).map(({ event }) => event);
    expect(about('leaked')).toEqual(['token.revoked', 'token.issued']);
    expect(about('rotated')).toEqual(['token.rotated', 'token.rotated', 'token.issued']);
    expect(JSON.stringify(body)).not.toContain('switchboard_');
  });

  it('are made, listed, rotated and revoked on the command line', async () => {
    const cli = commandLine(service);
    const made = (await cli.json(
      'tokens',
      'create',
      'shell',
      '--scopes',
      'read',
      '--expires',
      '30d',
    )) as { token: string; expires_at: string };
    expect(await statusOf(service, made.token)).toBe(200);
    expect((await cli.run('tokens')).stdout).toMatch(/^shell +viewer +\d{4}-.* admin$/m);
    const rotated = (await cli.json('tokens', 'rotate', 'shell', '--overlap', '0s')) as {
      token: string;
    };
    expect(await statusOf(service, made.token)).toBe(401);
    expect(await statusOf(service, rotated.token)).toBe(200);
    expect((await cli.run('tokens', 'revoke', 'shell')).stdout).toBe('shell is revoked.\n');
    expect(await statusOf(service, rotated.token)).toBe(401);
    expect((await cli.run('tokens', 'revoke', 'shell')).code).toBe(5);
    const configured = await cli.run('tokens', 'revoke', 'admin');
    expect(configured.code).toBe(1);
    expect(configured.stderr).toMatch(/token of the configuration/);
    expect((await cli.run('tokens', 'create', 'x', '--expires', 'soon')).code).toBe(2);
    expect(await cli.json('tokens', 'create', 'night-shift', '--role', 'operator')).toMatchObject({
      role: 'operator',
      scopes: ['operate'],
    });
    expect(await cli.json('tokens', 'create', 'agent')).toMatchObject({ role: 'caller' });
    const both = ['tokens', 'create', 'x', '--role', 'viewer', '--scopes', 'read'];
    expect((await cli.run(...both)).code).toBe(2);
  });
});

describe('tokens that are issued at one of two replicas', () => {
  let one: TestApp;
  let other: TestApp;

  beforeAll(async () => {
    const settings = { DATABASE_URL: await createDatabase() };
    const tokens = 'admin:admin:a-token-of-both-replicas';
    one = await startApp({ ...settings, MCP_AGGREGATOR_TOKENS: tokens });
    other = await startApp({ ...settings, MCP_AGGREGATOR_TOKENS: tokens });
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  it('are accepted, and refused once revoked, at both', async () => {
    const admin = { ...one, token: 'a-token-of-both-replicas' };
    const { id, token } = await issue(admin, { name: 'ci', scopes: ['read'] });
    await eventually(async () => expect(await statusOf(other, token)).toBe(200));
    const stream = await standingStream({ ...other, token });
    expect(await new Api(admin).call('DELETE', `/tokens/${id}`)).toMatchObject({ status: 204 });
    expect(await statusOf(one, token)).toBe(401);
    await eventually(async () => expect(await statusOf(other, token)).toBe(401));
    await stream.text();
  });
});
