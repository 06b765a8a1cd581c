import { CommandBus } from '@nestjs/cqrs';
import { SYSTEM } from '@app/access';
import { RotateCredentials } from '@app/registry';
import pg from 'pg';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { GuardedServer } from '../support/guarded-server.js';
import { send } from '../support/http.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

interface Authorization {
  readonly status: string;
  readonly url: string | null;
  readonly expires_at: string | null;
}

describe('a server that requires OAuth', () => {
  let peer: HttpPeer;
  let guarded: GuardedServer;
  let service: TestApp;
  let api: Api;
  let database: string;
  let count = 0;
  const registered: string[] = [];

  beforeAll(async () => {
    peer = await httpPeer('peer-v2.mjs', ['http', 'auto']);
    database = await createDatabase();
    service = await startApp({ DATABASE_URL: database });
    api = new Api(service);
  });
  beforeEach(async () => {
    guarded = await GuardedServer.before(peer);
  });
  afterEach(async () => {
    await Promise.all(registered.splice(0).map((id) => api.call('DELETE', `/servers/${id}`)));
    guarded.stop();
  });
  afterAll(async () => {
    await service.close();
    await peer.stop();
  });

  const newName = (): string => `guarded-${count++}`;
  const register = async (config: object = {}): Promise<string> => {
    const id = await api.register({
      name: newName(),
      transport_type: 'HTTP',
      connection_config: { base_url: guarded.url, ...config },
    });
    registered.push(id);
    return id;
  };
  const authorizationOf = async (id: string): Promise<Authorization> =>
    (await api.call('GET', `/servers/${id}`)).body['authorization'] as Authorization;
  /** The URL of the consent page. */
  const questionOf = (id: string): Promise<string> =>
    eventually(async () => {
      const { url, status } = await authorizationOf(id);
      expect({ status, url }).toEqual({ status: 'needed', url: expect.any(String) });
      return url ?? '';
    });
  /** Where the authorization server redirects a browser after consent. */
  const consent = async (url: string): Promise<string> =>
    (await send(url, url.slice(new URL(url).origin.length))).headers['location'] ?? '';
  const open = (address: string) =>
    send(service.url, address.slice(new URL(address).origin.length));
  const isConnected = (id: string): Promise<void> =>
    eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
  const connected = async (): Promise<string> => {
    const id = await register();
    await open(await consent(await questionOf(id)));
    await isConnected(id);
    return id;
  };
  const call = async (id: string, tool: string, args: object = {}, at: TestApp = service) => {
    const body = JSON.stringify({ name: tool, arguments: args, server_id: id });
    return eventually(async () => {
      const answer = await send(at.url, '/api/v1/tools/call', {
        method: 'POST',
        token: at.token,
        body,
      });
      // Its tools are discovered shortly after it is connected.
      expect(answer.status).not.toBe(404);
      return answer;
    });
  };

  it('reports that it waits for consent, and connects by itself after it', async () => {
    const id = await register();
    const url = await questionOf(id);
    const name = await eventually(async () => {
      const { body } = await api.call('GET', `/servers/${id}`);
      expect(body).toMatchObject({
        status: 'ERROR',
        error_message: expect.stringContaining(
          `run "switchboard authorize ${String(body['name'])}"`,
        ),
      });
      return String(body['name']);
    });
    expect(new URL(url).searchParams.get('resource')).toBe(guarded.url);
    expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');

    const page = await open(await consent(url));
    expect(page.status).toBe(200);
    expect(page.text).toContain(`Authorized: ${name}`);
    await isConnected(id);
    expect(await authorizationOf(id)).toEqual({
      status: 'authorized',
      url: null,
      expires_at: null,
    });
    expect(await call(id, 'echo', { text: 'hello' })).toMatchObject({ status: 200 });
  });

  it.each([undefined, [], ['plain'], ['s256']])(
    'is not authorized at an authorization server without PKCE by S256, and says why: %j',
    async (methods) => {
      guarded.challengeMethods = methods;
      const id = await register();
      await eventually(async () => {
        const { body } = await api.call('GET', `/servers/${id}`);
        expect(body).toMatchObject({
          status: 'ERROR',
          error_message: expect.stringContaining('PKCE with S256'),
        });
      });
      expect(guarded.countOf('POST /register')).toBe(0);
      const asked = await api.call('POST', `/servers/${id}/authorize`);
      expect(asked).toMatchObject({
        status: 502,
        body: {
          error_code: 'SERVER_CONNECTION_FAILED',
          detail: expect.stringContaining('PKCE with S256'),
        },
      });
    },
  );

  it('refreshes what was granted although the authorization server says nothing of PKCE now', async () => {
    const id = await connected();
    guarded.challengeMethods = undefined;
    guarded.expireAll();
    expect(await call(id, 'echo', { text: 'hello' })).toMatchObject({ status: 200 });
    expect(guarded.countOf('POST /token refresh_token')).toBe(1);
  });

  it.each([
    ['a million members', members(1_000_000)],
    ['as many members as it may', members(15_000)],
    ['members as deep as it may', `"deep":${'['.repeat(120_000)}${']'.repeat(120_000)},`],
  ])('does not affect other servers with %s in its metadata', async (_, more) => {
    guarded.moreMetadata = more;
    const other = await api.register({
      name: newName(),
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    registered.push(other);
    await isConnected(other);
    const id = await register();
    await eventually(async () => expect(await api.status(id)).toBe('ERROR'));
    expect(await call(other, 'echo', { text: 'hello' })).toMatchObject({ status: 200 });
  });

  it('is named in the health answers', async () => {
    const id = await register();
    await questionOf(id);
    expect((await api.call('GET', `/servers/${id}/health`)).body['authorization']).toMatchObject({
      status: 'needed',
    });
    expect(JSON.stringify((await send(service.url, '/health')).body)).toContain(
      'not authorized yet: switchboard authorize',
    );
    await api.call('DELETE', `/servers/${id}`);
  });

  it('shows the consent URL to admins only, because the consent decides whose account is used', async () => {
    const id = await register();
    await questionOf(id);
    const { read } = service.tokens;
    const path = `/api/v1/aggregator/servers/${id}`;
    for (const at of [path, `${path}/health`]) {
      const { body } = await send(service.url, at, { token: read });
      expect(body).toMatchObject({ authorization: { status: 'needed', url: null } });
    }
    const asked = await send(service.url, `${path}/authorize`, { method: 'POST', token: read });
    expect(asked.status).toBe(403);
  });

  it('can be requested too, with the same URL while it is valid', async () => {
    const id = await register();
    const url = await questionOf(id);
    const asked = await api.call('POST', `/servers/${id}/authorize`);
    expect(asked).toMatchObject({
      status: 200,
      body: { server_id: id, authorization_url: url, expires_at: expect.any(String) },
    });
  });

  it('accepts a callback once, and only with its state', async () => {
    const id = await register();
    const back = await consent(await questionOf(id));
    const forged = new URL(back);
    forged.searchParams.set('state', 'x'.repeat(43));
    expect((await open(forged.href)).status).toBe(400);
    expect(guarded.countOf('POST /token authorization_code')).toBe(0);

    expect((await open(back)).status).toBe(200);
    expect((await open(back)).status).toBe(400);
    expect(guarded.countOf('POST /token authorization_code')).toBe(1);
  });

  it.each(['', '?state=a&state=b', `?state=${'a'.repeat(300)}`, '?code=a', '?state=%00'])(
    'neither shows nor follows an invalid callback: "%s"',
    async (query) => {
      const answer = await send(service.url, `/oauth/callback${query}`);
      expect(answer.status).toBe(400);
      expect(answer.headers).not.toHaveProperty('location');
      expect(answer.headers['content-type']).toContain('text/html');
    },
  );

  it('refuses an answer of another authorization server', async () => {
    guarded.answerIssuer = 'https://evil.example.com';
    const id = await register();
    const page = await open(await consent(await questionOf(id)));
    expect(page.status).toBe(400);
    expect(page.text).not.toContain('evil');
    expect(guarded.countOf('POST /token authorization_code')).toBe(0);
  });

  it('requests consent again after a refusal', async () => {
    const id = await register();
    const url = new URL(await questionOf(id));
    const state = url.searchParams.get('state') ?? '';
    const refused = `${service.url}/oauth/callback?error=access_denied&state=${state}`;
    expect((await open(refused)).status).toBe(400);
    expect(await authorizationOf(id)).toMatchObject({ status: 'needed', url: null });
    const asked = await api.call('POST', `/servers/${id}/authorize`);
    await open(await consent(String(asked.body['authorization_url'])));
    await isConnected(id);
  });

  it('refreshes an expired token, once for all calls', async () => {
    const id = await connected();
    await call(id, 'echo', { text: 'first' });
    guarded.expireAll();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(id, 'echo', { text: 'again' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(guarded.countOf('POST /token refresh_token')).toBe(1);
    expect(await authorizationOf(id)).toMatchObject({ status: 'authorized' });
  });

  it('shares its token with every process of the service, and refreshes it once for all', async () => {
    const id = await connected();
    await call(id, 'echo', { text: 'first' });
    const other = await startApp({ DATABASE_URL: database });
    try {
      expect((await call(id, 'echo', { text: 'there' }, other)).status).toBe(200);
      guarded.expireAll();
      const answers = await Promise.all(
        [service, other, service, other].map((at) => call(id, 'echo', { text: 'again' }, at)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(guarded.countOf('POST /token refresh_token')).toBe(1);
      expect(guarded.countOf('GET /authorize')).toBe(1);
    } finally {
      await other.close();
    }
  });

  it('refreshes before a token ends', async () => {
    guarded.lifetime = 10;
    const id = await connected();
    await call(id, 'echo', { text: 'first' });
    expect(guarded.countOf('POST /token refresh_token')).toBeGreaterThan(0);
  });

  it('keeps the consent while the authorization server is down', async () => {
    const id = await connected();
    await call(id, 'echo', { text: 'first' });
    guarded.expireAll();
    guarded.isDown = true;
    expect((await call(id, 'echo', { text: 'again' })).status).toBe(503);
    expect(await authorizationOf(id)).toMatchObject({ status: 'authorized', url: null });
    guarded.isDown = false;
    expect((await call(id, 'echo', { text: 'again' })).status).toBe(200);
    expect(await authorizationOf(id)).toMatchObject({ status: 'authorized' });
  });

  it('waits for consent again when its token was revoked', async () => {
    const id = await connected();
    await call(id, 'echo', { text: 'first' });
    guarded.revokeAll();
    expect((await call(id, 'echo', { text: 'again' })).status).toBe(503);
    await open(await consent(await questionOf(id)));
    await isConnected(id);
    expect((await call(id, 'echo', { text: 'again' })).status).toBe(200);
  });

  it('requests further scopes when a tool needs them, keeps the granted ones, and stays connected', async () => {
    const id = await connected();
    const refused = await call(id, 'grow');
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('consent to more than was granted');
    expect(await api.status(id)).toBe('CONNECTED');
    const url = await questionOf(id);
    expect(new URL(url).searchParams.get('scope')).toBe('use write');
    expect((await call(id, 'echo', { text: 'meanwhile' })).status).toBe(200);
    await open(await consent(url));
    expect((await call(id, 'grow')).status).toBe(200);
  });

  it('needs no consent with client_credentials', async () => {
    const id = await register({
      oauth: {
        grant: 'client_credentials',
        client_id: 'machine',
        client_secret: 'the-secret-of-the-machine',
        issuer: guarded.origin,
      },
    });
    await isConnected(id);
    guarded.revokeAll();
    expect((await call(id, 'echo', { text: 'again' })).status).toBe(200);
    const asked = await api.call('POST', `/servers/${id}/authorize`);
    expect(asked).toMatchObject({
      status: 502,
      body: { detail: expect.stringContaining('its grant needs no') },
    });
  });

  it('gives the secret of a client only to the issuer it was agreed with', async () => {
    const id = await register({
      oauth: {
        grant: 'client_credentials',
        client_id: 'machine',
        client_secret: 'the-secret-of-the-machine',
        issuer: 'https://id.example.com',
      },
    });
    await eventually(async () => {
      const { error_message: message } = (await api.call('GET', `/servers/${id}`)).body;
      expect(message).toContain('Authorizing failed');
    });
    expect(guarded.seen.filter((one) => one.startsWith('POST /token'))).toEqual([]);
  });

  it.each([
    ['without TLS', 'http://id.example.com', 'is not reached by https:'],
    ['that hands out the keys of a machine', 'https://169.254.169.254', 'must not send us to'],
  ])('asks no authorization server %s', async (_what, address, problem) => {
    guarded.issuerAddress = address;
    const id = await register();
    await eventually(async () => {
      const { error_message: message } = (await api.call('GET', `/servers/${id}`)).body;
      expect(message).toContain(problem);
    });
  });

  it('sends no token to a new address', async () => {
    const id = await connected();
    const other = await GuardedServer.before(peer);
    try {
      await api.call('PATCH', `/servers/${id}`, { connection_config: { base_url: other.url } });
      await eventually(async () => expect(await questionOf(id)).toContain(other.origin));
    } finally {
      other.stop();
    }
  });

  it('is not used for a STDIO server or with an Authorization header', async () => {
    const id = await register({ headers: { Authorization: 'Bearer configured-token' } });
    await eventually(async () => expect(await api.status(id)).toBe('ERROR'));
    expect(await authorizationOf(id)).toBeNull();
    expect(guarded.seen.every((one) => one.endsWith(' /mcp'))).toBe(true);
    expect(await api.call('POST', `/servers/${id}/authorize`)).toMatchObject({
      status: 409,
      body: { error_code: 'AUTHORIZATION_NOT_USED' },
    });
  });

  it('stores its tokens only in the sealed column, and deletes them when it is removed', async () => {
    const id = await connected();
    await call(id, 'echo', { text: 'first' });
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    try {
      const { rows } = await client.query<{ text: string }>(
        `SELECT row_to_json(s)::text || a.all AS text
         FROM mcp.server_authorizations s,
           (SELECT coalesce(string_agg(row_to_json(l)::text, ''), '') AS all FROM mcp.audit_log l) a`,
      );
      const answers = await Promise.all([
        api.call('GET', `/servers/${id}`),
        api.call('GET', `/servers/${id}/history`),
        api.call('GET', `/servers/${id}/health`),
      ]);
      const told = JSON.stringify([rows, answers]);
      expect(guarded.secrets.length).toBeGreaterThan(3);
      expect(guarded.secrets.filter((secret) => told.includes(secret))).toEqual([]);

      await api.call('DELETE', `/servers/${id}`);
      const left = await client.query(
        'SELECT 1 FROM mcp.server_authorizations WHERE server_id = $1',
        [id],
      );
      expect(left.rows).toEqual([]);
    } finally {
      await client.end();
    }
  });
});

describe('a consent', () => {
  /** A server that is connected after a consent. */
  async function consented(service: TestApp, body: object): Promise<string> {
    const api = new Api(service);
    const id = await api.register({ name: 'guarded', ...body });
    const asked = await api.call('POST', `/servers/${id}/authorize`);
    const question = new URL(String(asked.body['authorization_url']));
    const { headers } = await send(question.origin, question.pathname + question.search);
    const back = new URL(headers['location'] ?? '');
    await send(service.url, back.pathname + back.search);
    await isConnected(service, id);
    return id;
  }
  const isConnected = (service: TestApp, id: string): Promise<void> =>
    eventually(async () => expect(await new Api(service).status(id)).toBe('CONNECTED'));

  it.each([
    ['HTTP', 'base_url', 'http'],
    ['SSE', 'url', 'sse'],
  ])('survives a restart with an expired token: %s', async (transport, field, kind) => {
    const peer = await httpPeer('peer-v1.mjs', [kind]);
    const guarded = await GuardedServer.before(peer);
    const DATABASE_URL = await createDatabase();
    let service = await startApp({ DATABASE_URL });
    try {
      const id = await consented(service, {
        transport_type: transport,
        connection_config: { [field]: guarded.url },
      });
      await service.close();
      guarded.expireAll();

      service = await startApp({ DATABASE_URL });
      await isConnected(service, id);
      expect(guarded.countOf('GET /authorize')).toBe(1);
      expect(guarded.countOf('POST /token refresh_token')).toBe(1);
    } finally {
      await service.close();
      guarded.stop();
      await peer.stop();
    }
  });

  it('survives a change of the credential key', async () => {
    const peer = await httpPeer('peer-v2.mjs', ['http', 'auto']);
    const guarded = await GuardedServer.before(peer);
    const DATABASE_URL = await createDatabase();
    const keys = { old: 'the-old-key-of-this-test', new: 'the-new-key-of-this-test' };
    let service = await startApp({ DATABASE_URL, MCP_CREDENTIAL_KEY: keys.old });
    try {
      const id = await consented(service, {
        transport_type: 'HTTP',
        connection_config: { base_url: guarded.url },
      });
      await service.close();

      service = await startApp({
        DATABASE_URL,
        MCP_CREDENTIAL_KEY: keys.new,
        MCP_CREDENTIAL_KEY_PREVIOUS: keys.old,
      });
      await service.app.get(CommandBus).execute(new RotateCredentials(SYSTEM));
      await service.close();

      service = await startApp({ DATABASE_URL, MCP_CREDENTIAL_KEY: keys.new });
      await isConnected(service, id);
      expect(guarded.countOf('GET /authorize')).toBe(1);
    } finally {
      await service.close();
      guarded.stop();
      await peer.stop();
    }
  });
});

describe('two processes of the service', () => {
  it('connect after a consent at the follower', async () => {
    const peer = await httpPeer('peer-v2.mjs', ['http', 'auto']);
    const guarded = await GuardedServer.before(peer);
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_HEALTH_INTERVAL: '0.2',
    };
    const leader = await startApp(settings);
    const other = await startApp(settings);
    const api = new Api(other);
    const call = (at: TestApp) =>
      send(at.url, '/api/v1/tools/call', {
        method: 'POST',
        token: at.token,
        body: JSON.stringify({ name: 'guarded.echo', arguments: { text: 'hello' } }),
      });
    try {
      const id = await api.register({
        name: 'guarded',
        transport_type: 'HTTP',
        connection_config: { base_url: guarded.url },
      });
      const consent = async (): Promise<void> => {
        await eventually(async () => expect(await api.status(id)).toBe('ERROR'));
        const { body } = await api.call('POST', `/servers/${id}/authorize`);
        const question = new URL(String(body['authorization_url']));
        const { headers } = await send(question.origin, question.pathname + question.search);
        const back = new URL(headers['location'] ?? '');
        expect((await send(other.url, back.pathname + back.search)).status).toBe(200);
      };
      await consent();
      await eventually(async () => expect((await call(leader)).status).toBe(200));
      guarded.revokeAll();
      expect((await call(leader)).status).toBe(503);
      await consent();
      await eventually(async () => expect((await call(leader)).status).toBe(200));
    } finally {
      await other.close();
      await leader.close();
      guarded.stop();
      await peer.stop();
    }
  });
});

describe('the client metadata document', () => {
  it('is published where the service has a public https: address, and is its client id then', async () => {
    const PUBLIC = 'https://switchboard.example.com';
    const service = await startApp({ MCP_AGGREGATOR_PUBLIC_URL: PUBLIC });
    try {
      expect((await send(service.url, '/oauth/client-metadata.json')).body).toMatchObject({
        client_id: `${PUBLIC}/oauth/client-metadata.json`,
        redirect_uris: [`${PUBLIC}/oauth/callback`],
        token_endpoint_auth_method: 'none',
      });
    } finally {
      await service.close();
    }
  });

  it('is 404 otherwise', async () => {
    const service = await startApp();
    try {
      expect((await send(service.url, '/oauth/client-metadata.json')).status).toBe(404);
    } finally {
      await service.close();
    }
  });
});

function members(count: number): string {
  return Array.from({ length: count }, (_, i) => `"k${i}":1,`).join('');
}
