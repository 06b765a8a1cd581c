import { ClientDocuments } from '@app/oauth';
import { Database } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app.js';
import { listenStream, standingStream } from '../support/client-streams.js';
import { send } from '../support/http.js';
import {
  at,
  ClientHost,
  type ClientShape,
  mcp,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';
import { TEST_CERTIFICATE } from '../support/tls.js';

const MCP = `${PUBLIC_URL}/mcp`;
const randomPort = (): number => 20_000 + Math.floor(Math.random() * 40_000);

describe('OAuth clients', () => {
  let service: TestApp;
  let host: ClientHost;

  beforeAll(async () => {
    host = await ClientHost.start();
    service = await startApp(oauthSettings);
    service.app.get(ClientDocuments, { strict: false }).trust('localhost', TEST_CERTIFICATE);
  });

  afterAll(async () => {
    await service.close();
    host.stop();
  });

  const register = async (registration: object): Promise<string> => {
    const body = JSON.stringify(registration);
    const answer = await at(service, '/register', { method: 'POST', body });
    expect(answer.status).toBe(201);
    return (answer.body as { client_id: string }).client_id;
  };

  /** By registering itself, as clients do that find no other way. */
  const registered = {
    'claude.ai': async (): Promise<ClientShape> => ({
      clientId: await register({
        client_name: 'Claude',
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'read call operate admin',
      }),
      redirectUri: 'https://claude.ai/api/mcp/auth_callback',
      resource: MCP,
      scope: 'read call',
    }),
    'Codex CLI': async (): Promise<ClientShape> => {
      const redirectUri = `http://127.0.0.1:${randomPort()}/callback`;
      return {
        clientId: await register({
          client_name: 'Codex',
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'none',
          response_types: ['code'],
        }),
        redirectUri,
        resource: MCP,
        scope: 'read call',
      };
    },
    Cursor: async (): Promise<ClientShape> => ({
      clientId: await register({
        client_name: 'Cursor',
        redirect_uris: [
          'cursor://anysphere.cursor-mcp/oauth/callback',
          'https://www.cursor.com/agents/mcp/oauth/callback',
          'http://localhost:8787/callback',
        ],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
      redirectUri: 'cursor://anysphere.cursor-mcp/oauth/callback',
      resource: MCP,
      scope: 'read call openid offline_access',
    }),
    'VS Code, registering': async (): Promise<ClientShape> => ({
      clientId: await register({
        client_name: 'Visual Studio Code',
        client_uri: 'https://code.visualstudio.com',
        redirect_uris: [
          'https://insiders.vscode.dev/redirect',
          'https://vscode.dev/redirect',
          'http://127.0.0.1/',
          'http://127.0.0.1:33418/',
        ],
        grant_types: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      }),
      redirectUri: `http://127.0.0.1:${randomPort()}/`,
      resource: MCP,
      scope: 'read call',
    }),
  };

  /** By the address of their published metadata. */
  const published = {
    'Claude Code': async (): Promise<ClientShape> => ({
      clientId: host.publish('/oauth/claude-code-client-metadata', {
        client_name: 'Claude Code',
        client_uri: 'https://claude.ai',
        redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
      redirectUri: `http://localhost:${randomPort()}/callback`,
      resource: MCP,
      scope: 'read call',
    }),
    'ChatGPT, which sends no resource': async (): Promise<ClientShape> => ({
      clientId: host.publish(`/oauth/${randomUUID()}/client.json`, {
        client_name: 'ChatGPT',
        redirect_uris: ['https://chatgpt.com/connector/oauth/abc123'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        token_endpoint_auth_signing_alg: 'RS256',
        jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
      }),
      redirectUri: 'https://chatgpt.com/connector/oauth/abc123',
      scope: 'read call',
    }),
    'VS Code': async (): Promise<ClientShape> => ({
      clientId: host.publish('/oauth/client-metadata.json', {
        client_name: 'Visual Studio Code',
        redirect_uris: [
          'http://127.0.0.1:33418/',
          'http://127.0.0.1/',
          'https://vscode.dev/redirect',
        ],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
      redirectUri: `http://127.0.0.1:${randomPort()}/`,
      resource: MCP,
      scope: 'read call',
    }),
    opencode: async (): Promise<ClientShape> => ({
      clientId: host.publish('/.well-known/oauth/opencode.json', {
        client_name: 'opencode',
        redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
      redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
      resource: MCP,
      scope: 'read call',
    }),
  };
  const clients = { ...registered, ...published };
  const names = Object.keys(clients) as (keyof typeof clients)[];

  /** What was used is as if it had been used a minute ago. */
  const aMinuteLater = async (): Promise<void> => {
    await service.app
      .get(Database, { strict: false })
      .direct.query(`UPDATE mcp.oauth_records SET consumed_at = consumed_at - interval '1 minute'`);
  };

  /** A person at a browser who is logged in and allows what is asked for. */
  const connect = async (shape: ClientShape, credential = service.tokens.call) => {
    const client = new TestClient(service, shape);
    const browser = new TestBrowser(service);
    expect(await browser.open(client.authorizeUrl())).toBeUndefined();
    expect(await browser.logIn(credential)).toBeUndefined();
    expect(browser.page).toContain('act for you?');
    const back = (await browser.allow()) ?? '';
    expect(back.startsWith(shape.redirectUri)).toBe(true);
    const { searchParams } = new URL(back);
    expect([searchParams.get('state'), searchParams.get('iss')]).toEqual([
      client.state,
      PUBLIC_URL,
    ]);
    const answer = await client.redeem(back);
    expect(answer.status).toBe(200);
    return { client, browser, back, tokens: answer.body as Tokens };
  };

  const issue = async (name: string): Promise<{ id: string; token: string }> => {
    const issued = await send(service.url, '/api/v1/aggregator/tokens', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name, role: 'caller' }),
    });
    return issued.body as { id: string; token: string };
  };

  it.each(names)('connects, calls, refreshes and loses access: %s', async (name) => {
    const { client, tokens } = await connect(await clients[name]());
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: 'read call' });
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(200);
    expect((await mcp(service, '/mcp', tokens.access_token, 'tools/call')).status).toBe(200);

    // No client sends the resource again; some would not know it any more.
    const refreshed = (await client.refresh(tokens.refresh_token)).body as Tokens;
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
    expect((await mcp(service, '/mcp', refreshed.access_token)).status).toBe(200);

    await aMinuteLater();
    const replayed = await client.refresh(tokens.refresh_token);
    expect(replayed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await client.refresh(refreshed.refresh_token)).status).toBe(400);
    for (const { access_token: token } of [tokens, refreshed]) {
      expect((await mcp(service, '/mcp', token)).status).toBe(401);
    }
  });

  it.each(names)('is asked for more once it needs more: %s', async (name) => {
    const shape = await clients[name]();
    const { tokens } = await connect({ ...shape, scope: 'read' });
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(200);
    const refused = await mcp(service, '/mcp', tokens.access_token, 'tools/call');
    expect(refused.status).toBe(403);
    const challenge = refused.headers['www-authenticate'] ?? '';
    const scope = /scope="([^"]+)"/.exec(challenge)?.[1] ?? '';
    expect(scope).toBe('read call');
    const more = await connect({ ...shape, scope });
    expect((await mcp(service, '/mcp', more.tokens.access_token, 'tools/call')).status).toBe(200);
  });

  it('binds a token to the endpoint that it was given for', async () => {
    const shape = await clients['claude.ai']();
    const { tokens } = await connect({ ...shape, resource: `${PUBLIC_URL}/mcp/search` });
    const statuses = await Promise.all(
      ['/mcp/search', '/mcp', '/mcp/views/default'].map(async (endpoint) => {
        const { status } = await mcp(service, endpoint, tokens.access_token);
        return status;
      }),
    );
    expect(statuses).toEqual([200, 401, 401]);
    const rest = await send(service.url, '/api/v1/aggregator/me', { token: tokens.access_token });
    expect(rest.status).toBe(401);
  });

  it.each([PUBLIC_URL, `${PUBLIC_URL}/`])(
    'takes %s for the whole service, spelled otherwise in the next request too',
    async (resource) => {
      const shape = await clients['claude.ai']();
      const { client, tokens } = await connect({ ...shape, resource });
      expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(200);
      const rest = await at(service, '/api/v1/aggregator/me', { token: tokens.access_token });
      expect(rest.body).toMatchObject({ name: 'call', scopes: ['read', 'call'] });
      const other = resource.endsWith('/') ? PUBLIC_URL : `${PUBLIC_URL}/`;
      expect((await client.refresh(tokens.refresh_token, { resource: other })).status).toBe(200);
    },
  );

  it('gives a token for no other resource, neither at first nor by refreshing', async () => {
    const shape = await clients['claude.ai']();
    const browser = new TestBrowser(service);
    const foreign = new TestClient(service, {
      ...shape,
      resource: 'https://other.example.com/mcp',
    });
    expect(await browser.open(foreign.authorizeUrl())).toBeUndefined();
    expect(browser.page).toContain('invalid_target');
    const two = `${foreign.authorizeUrl()}&resource=${encodeURIComponent(MCP)}`;
    expect(await browser.open(two)).toBeUndefined();
    expect(browser.page).toContain('invalid_target');
    const { client, tokens } = await connect(shape);
    const wider = await client.refresh(tokens.refresh_token, { resource: PUBLIC_URL });
    expect(wider).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
    // The refused request used up nothing, and a slash is another spelling.
    expect((await client.refresh(tokens.refresh_token, { resource: `${MCP}/` })).status).toBe(200);
  });

  it('refuses one of two refreshes at once, and ends nothing by it', async () => {
    const { client, tokens } = await connect(await clients['claude.ai']());
    const answers = await Promise.all([1, 2].map(() => client.refresh(tokens.refresh_token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
    const kept = answers.find(({ status }) => status === 200)?.body as Tokens;
    expect((await mcp(service, '/mcp', kept.access_token)).status).toBe(200);
    expect((await client.refresh(kept.refresh_token)).status).toBe(200);
  });

  it.each([
    'javascript:alert(1)',
    'ms-msdt:x',
    'http://claude.ai/callback',
    'https://person@claude.ai/callback',
    '/callback',
  ])('registers no client at %s', async (uri) => {
    const body = JSON.stringify({ redirect_uris: [uri] });
    const answer = await at(service, '/register', { method: 'POST', body });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
    const documented = host.publish(`/${randomUUID()}`, { redirect_uris: [uri] });
    const browser = new TestBrowser(service);
    const client = new TestClient(service, { clientId: documented, redirectUri: uri });
    expect(await browser.open(client.authorizeUrl())).toBeUndefined();
    expect(browser.page).toContain('cannot be connected');
  });

  it('takes metadata only as JSON, and asks for those that it cannot use once a minute', async () => {
    const redirectUri = 'https://claude.ai/callback';
    const open = async (clientId: string): Promise<string> => {
      const browser = new TestBrowser(service);
      await browser.open(new TestClient(service, { clientId, redirectUri }).authorizeUrl());
      return browser.page;
    };
    const clientId = host.publish(`/${randomUUID()}`, { redirect_uris: [redirectUri] });
    host.contentType = 'text/plain';
    const page = await open(clientId);
    expect(page).toContain('cannot be connected');
    expect(page).toContain('MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS=false');
    host.contentType = 'application/client+json; charset=utf-8';
    const { asked } = host;
    expect(await open(clientId)).toContain('cannot be connected');
    expect(host.asked).toBe(asked);
    const other = host.publish(`/${randomUUID()}`, { redirect_uris: [redirectUri] });
    expect(await open(other)).toContain('Log in');
  });

  it.each([
    ['a redirect to another host', { redirect_uri: 'https://evil.example.com/callback' }],
    ['a redirect to another path', { redirect_uri: 'https://claude.ai/other' }],
    ['an unknown client', { client_id: 'unknown' }],
    ['a client whose metadata cannot be had', { client_id: 'https://localhost:1/client.json' }],
    ['a client in a private network', { client_id: 'https://169.254.169.254/client.json' }],
  ])('shows %s to the person, and redirects nowhere', async (_, more) => {
    const client = new TestClient(service, await clients['claude.ai']());
    const browser = new TestBrowser(service);
    expect(await browser.open(client.authorizeUrl(more))).toBeUndefined();
    expect(browser.page).toContain('cannot be connected');
    expect(browser.page).not.toContain('evil');
  });

  it.each([
    ['no challenge', { code_challenge: '', code_challenge_method: '' }],
    ['a plain challenge', { code_challenge_method: 'plain' }],
    ['an implicit answer', { response_type: 'token' }],
    ['no question', { prompt: 'none' }],
  ])('refuses %s, and sends no person on who decided nothing', async (_, more) => {
    const client = new TestClient(service, await clients['claude.ai']());
    const browser = new TestBrowser(service);
    expect(await browser.open(client.authorizeUrl(more))).toBeUndefined();
    expect(browser.page).toMatch(/invalid_request|unsupported_response_type|login_required/);
    expect(browser.page).toContain('>tell claude.ai</a>');
    expect(browser.page).not.toMatch(/http-equiv|code=|token=/);
  });

  it('takes a code once, with its verifier, client and address', async () => {
    const shape = await clients['claude.ai']();
    const { client, back, tokens } = await connect(shape);
    expect((await client.redeem(back)).status).toBe(400);
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(401);
    for (const more of [
      { code_verifier: 'x'.repeat(43) },
      { redirect_uri: 'https://claude.ai/other' },
      { client_id: (await clients.Cursor()).clientId },
    ]) {
      const other = new TestClient(service, await clients['claude.ai']());
      const browser = new TestBrowser(service);
      await browser.open(other.authorizeUrl());
      await browser.logIn(service.tokens.call);
      expect((await other.redeem((await browser.allow()) ?? '', more)).status).toBe(400);
    }
  });

  it('gives no more than the person may, and says so', async () => {
    const shape = await clients['claude.ai']();
    const client = new TestClient(service, { ...shape, scope: 'read call admin' });
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    await browser.logIn(service.tokens.read);
    expect(browser.page).toContain('call, admin, which you may not do yourself');
    const tokens = (await client.redeem((await browser.allow()) ?? '')).body as Tokens;
    expect(tokens.scope).toBe('read');
    expect((await mcp(service, '/mcp', tokens.access_token, 'tools/call')).status).toBe(403);
  });

  it('names a client by the host of its metadata, and one that registered as unverified', async () => {
    const page = async (shape: ClientShape): Promise<string> => {
      const browser = new TestBrowser(service);
      await browser.open(new TestClient(service, shape).authorizeUrl());
      await browser.logIn(service.tokens.call);
      return browser.page;
    };
    const known = await page(await clients['ChatGPT, which sends no resource']());
    expect(known).toMatch(/The client is<\/dt><dd><b>localhost:\d+<\/b><code>\/oauth\//);
    expect(known).toContain('<b>chatgpt.com</b>');
    expect(known).toContain('another host than the one that publishes the client');
    expect(await page(await clients['Claude Code']())).toContain('a program on this machine');
    const unknown = await page({
      ...(await clients['claude.ai']()),
      clientId: await register({
        client_name: `<script>"alert(1)” ${'x'.repeat(100)}`,
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      }),
    });
    expect(unknown).toContain('<h1>May a client act for you?</h1>');
    expect(unknown).toContain('The client is</dt><dd>unverified');
    expect(unknown).toMatch(/<dd><bdi>&lt;script&gt;alert\(1\) x{30,45}…?<\/bdi>/);
    expect(unknown).toContain('its name proves nothing');
  });

  it('asks again for loopback, and not for an address that only its owner has', async () => {
    const again = async (shape: ClientShape): Promise<string | undefined> => {
      const { browser } = await connect(shape);
      return browser.open(new TestClient(service, shape).authorizeUrl());
    };
    const hosted = await clients['ChatGPT, which sends no resource']();
    expect(await again(hosted)).toContain('https://chatgpt.com/connector/oauth/abc123?code=');
    expect(await again(await clients['Claude Code']())).toBeUndefined();
  });

  it('asks again for more than before, and whenever the client wants the person to be asked', async () => {
    const shape = await clients['ChatGPT, which sends no resource']();
    const { browser } = await connect({ ...shape, scope: 'read' }, service.tokens.operate);
    const more = new TestClient(service, { ...shape, scope: 'read call operate' });
    expect(await browser.open(more.authorizeUrl())).toBeUndefined();
    const same = new TestClient(service, { ...shape, scope: 'read' });
    expect(await browser.open(same.authorizeUrl({ prompt: 'consent' }))).toBeUndefined();
  });

  it('tells the client that the person did not allow it', async () => {
    const client = new TestClient(service, await clients['claude.ai']());
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    await browser.logIn(service.tokens.call);
    const back = new URL((await browser.deny()) ?? '');
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  it('takes no decision of another page or another browser', async () => {
    const client = new TestClient(service, await clients['claude.ai']());
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    await browser.logIn(service.tokens.call);
    for (const headers of [
      {},
      { origin: 'https://evil.example.com' },
      { origin: 'http://mcp.example.com' },
      { origin: PUBLIC_URL, 'sec-fetch-site': 'same-site' },
    ]) {
      expect(await browser.submit('decide', { decision: 'allow' }, headers)).toBeUndefined();
      expect(browser.page).toContain('FORBIDDEN');
    }
  });

  it('asks again when what the page showed is not what would be allowed', async () => {
    const client = new TestClient(service, await clients['claude.ai']());
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    await browser.logIn(service.tokens.call);
    const { shown } = browser;
    // In another tab of this browser another person logs in.
    await browser.logIn(service.tokens.operate);
    expect(await browser.submit('decide', { decision: 'allow', shown })).toBeUndefined();
    expect(browser.page).toContain('has changed since the page was shown');
    expect(browser.page).toContain('<b>operate</b>');
    expect(await browser.allow()).toContain('?code=');
  });

  it('continues only in the browser where it was decided', async () => {
    const client = new TestClient(service, await clients['claude.ai']());
    const [browser, other] = [new TestBrowser(service), new TestBrowser(service)];
    await browser.open(client.authorizeUrl());
    // A site of the same domain gave both browsers the cookies of one request.
    other.takeCookiesOf(browser);
    await browser.logIn(service.tokens.call);
    const uid = /consent\/([\w-]+)/.exec(browser.page)?.[1] ?? '';
    browser.staysOnPages = true;
    await browser.allow();
    expect(browser.page).toContain('Back to claude.ai');
    expect(await other.open(`${PUBLIC_URL}/authorize/${uid}`)).toBeUndefined();
    expect(other.page).toContain('This request is over');
    browser.staysOnPages = false;
    expect(await browser.open(`${PUBLIC_URL}/authorize/${uid}`)).toContain('?code=');
  });

  it('tells the client when the access of the person ended after the decision', async () => {
    const { id, token } = await issue('eve');
    const client = new TestClient(service, await clients['claude.ai']());
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    await browser.logIn(token);
    const uid = /consent\/([\w-]+)/.exec(browser.page)?.[1] ?? '';
    browser.staysOnPages = true;
    await browser.allow();
    browser.staysOnPages = false;
    await send(service.url, `/api/v1/aggregator/tokens/${id}`, {
      method: 'DELETE',
      token: service.token,
    });
    const back = new URL((await browser.open(`${PUBLIC_URL}/authorize/${uid}`)) ?? '');
    expect(back.searchParams.get('error')).toBe('access_denied');
  });

  it('ends with the secret that the person logged in with, and can be given again', async () => {
    const { id, token } = await issue('mallory');
    const { client, tokens } = await connect(await clients['claude.ai'](), token);
    const rotate = (overlap: number) =>
      send(service.url, `/api/v1/aggregator/tokens/${id}/rotate`, {
        method: 'POST',
        token: service.token,
        body: JSON.stringify({ overlap_seconds: overlap }),
      });
    const next = ((await rotate(3_600)).body as { token: string }).token;
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(200);
    const later = await connect(client.shape, next);
    await rotate(0);
    for (const { access_token: access } of [tokens, later.tokens]) {
      expect((await mcp(service, '/mcp', access)).status).toBe(401);
    }
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
  });

  it.each([
    ['GET', '/.well-known/oauth-authorization-server/mcp'],
    ['GET', '/jwks'],
    ['POST', '/register'],
    ['POST', '/token'],
    ['POST', '/revoke'],
  ])('answers pages of any origin, without credentials: %s %s', async (method, path) => {
    const origin = 'http://localhost:6274';
    const preflight = await at(service, path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method },
    });
    expect(preflight).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': '*' },
    });
    const answer = await at(service, path, { method, headers: { origin } });
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*' });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    expect([200, 400, 415]).toContain(answer.status);
    const asked = await at(service, '/authorize', { headers: { origin } });
    expect(asked.status).toBe(403);
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('ends streams and sessions of a client with what a person withdraws, all of it', async () => {
    const shape = await clients['claude.ai']();
    const again = await connect({ ...shape, scope: 'read' });
    const { tokens } = await connect(shape);
    const other = await connect(await clients.Cursor());
    const streamsOf = ({ access_token: token }: Tokens) =>
      Promise.all([standingStream({ ...service, token }), listenStream({ ...service, token })]);
    const [streams, kept] = [await streamsOf(tokens), await streamsOf(other.tokens)];
    const grants = await send(service.url, '/api/v1/oauth/grants?limit=500', {
      token: service.tokens.call,
    });
    const [newest] = (
      grants.body as { grants: { id: string; client_name: string }[] }
    ).grants.filter(({ client_name: name }) => name === 'Claude');
    const path = `/api/v1/oauth/grants/${newest?.id ?? ''}`;
    await send(service.url, path, { method: 'DELETE', token: service.tokens.call });
    // They end: reading them resolves.
    for (const stream of streams) await stream.text();
    for (const { access_token: token } of [tokens, again.tokens]) {
      expect((await mcp(service, '/mcp', token)).status).toBe(401);
    }
    expect((await mcp(service, '/mcp', other.tokens.access_token)).status).toBe(200);
    for (const stream of kept) await stream.body?.cancel();
  });

  it('keeps sessions and grants of a person from the other clients of that person', async () => {
    const whole = { resource: PUBLIC_URL, scope: 'read call' };
    const one = await connect({ ...(await clients['claude.ai']()), ...whole });
    const two = await connect({ ...(await clients.Cursor()), ...whole });
    const listed = await at(service, '/api/v1/oauth/grants', { token: one.tokens.access_token });
    const own = (listed.body as { grants: { id: string; client_name: string }[] }).grants;
    expect(own.map(({ client_name: name }) => name)).toEqual(['Claude']);
    const withdraw = ({ access_token: token }: Tokens) =>
      at(service, `/api/v1/oauth/grants/${own[0]?.id ?? ''}`, { method: 'DELETE', token });
    expect((await withdraw(two.tokens)).status).toBe(404);

    const rpc = (method: string, params: object, token: string, headers: object = {}) =>
      at(service, '/mcp', {
        method: 'POST',
        token,
        headers: { accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
    const begun = await rpc(
      'initialize',
      {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      },
      one.tokens.access_token,
    );
    const session = { 'mcp-session-id': begun.headers['mcp-session-id'] ?? '' };
    const ping = async ({ access_token: token }: Tokens): Promise<number> =>
      (await rpc('ping', {}, token, session)).status;
    expect(await ping(two.tokens)).toBe(404);
    const refreshed = (await one.client.refresh(one.tokens.refresh_token)).body as Tokens;
    expect(await ping(refreshed)).toBe(200);
    expect((await withdraw(one.tokens)).status).toBe(204);
  });

  it('lets a person see and withdraw what clients may do, and administrators all', async () => {
    const { client, tokens } = await connect(await clients['claude.ai']());
    const grants = async (token: string) => {
      const answer = await send(service.url, '/api/v1/oauth/grants?limit=500', { token });
      return (answer.body as { grants: { id: string; person: string; created_at: string }[] })
        .grants;
    };
    const own = await grants(service.tokens.call);
    expect(own[0]).toMatchObject({
      person: 'call',
      client_name: 'Claude',
      client_domain: null,
      redirect_host: 'claude.ai',
      scopes: ['read', 'call'],
      resource: '/mcp',
    });
    const id = own[0]?.id ?? '';
    const others = await grants(service.tokens.read);
    expect(others.map(({ person }) => person)).not.toContain('call');
    expect((await grants(service.tokens.admin)).map((grant) => grant.id)).toContain(id);
    const withdraw = (token: string) =>
      send(service.url, `/api/v1/oauth/grants/${id}`, { method: 'DELETE', token });
    expect((await withdraw(service.tokens.read)).status).toBe(404);
    expect((await withdraw(service.tokens.call)).status).toBe(204);
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(401);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
    expect((await withdraw(service.tokens.admin)).status).toBe(404);
  });

  it('ends with the token that the person logged in with', async () => {
    const { id, token } = await issue('ada');
    const { client, tokens } = await connect(await clients['claude.ai'](), token);
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(200);
    const path = `/api/v1/aggregator/tokens/${id}`;
    await send(service.url, path, { method: 'DELETE', token: service.token });
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(401);
    expect((await client.refresh(tokens.refresh_token)).status).toBe(400);
  });

  it('ends what its client revokes', async () => {
    const { client, tokens } = await connect(await clients['claude.ai']());
    const body = new URLSearchParams({
      token: tokens.refresh_token,
      client_id: client.shape.clientId,
    }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await at(service, '/revoke', { method: 'POST', body, headers })).status).toBe(200);
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(401);
  });
});
