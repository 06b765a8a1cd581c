import { startApp, type TestApp } from '../support/app.js';
import { followWithin, LOGIN_CLIENT, TestIdentityProvider } from '../support/identity-provider.js';
import {
  at,
  mcp,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';
import { httpPeer } from '../support/peers.js';

const redirectUri = 'https://claude.ai/api/mcp/auth_callback';

describe('people of an identity provider', () => {
  let provider: TestIdentityProvider;
  let service: TestApp;

  beforeAll(async () => {
    provider = await TestIdentityProvider.start();
    service = await startApp({
      ...oauthSettings,
      ...provider.settings,
      MCP_AGGREGATOR_LOGIN_ROLES: 'callers=caller,ops=admin',
      MCP_AGGREGATOR_JWT_ROLES_CLAIM: 'realm_access.roles',
    });
  });
  beforeEach(() => provider.reset());
  afterAll(async () => {
    await service.close();
    provider.stop();
  });

  /** A browser that the provider has sent back. */
  const loggedIn = async (
    claims: Record<string, unknown> = {},
    more: Record<string, string> = {},
  ): Promise<TestBrowser> => {
    provider.claims = claims;
    const browser = new TestBrowser(service);
    const there = (await browser.visit('/login/start')) ?? '';
    await browser.open(provider.answerTo(there, more));
    return browser;
  };
  const sessionOf = async (browser: TestBrowser) => (await browser.read('/console/session')).body;

  it('log in at the console, with the role of their group', async () => {
    const browser = await loggedIn({ email: 'ada@example.com', email_verified: true });
    expect(await sessionOf(browser)).toMatchObject({
      name: 'ada@example.com',
      scopes: ['read', 'call'],
    });
    expect(provider.authorization).toBe(
      `Basic ${Buffer.from(`${LOGIN_CLIENT.id}:${encodeURIComponent(LOGIN_CLIENT.secret)}`).toString('base64')}`,
    );
  });

  it('are offered the login at the console and where a client asks for access', async () => {
    const { host } = new URL(provider.issuer);
    const ways = await at(service, '/console/session/ways');
    expect(ways.body).toEqual({ password: false, provider: host });
  });

  it('are asked with PKCE, a nonce and a state that belong to the browser', async () => {
    const browser = new TestBrowser(service);
    const there = new URL((await browser.visit('/login/start')) ?? '');
    expect(there.origin + there.pathname).toBe(`${provider.issuer}/authorize`);
    const asked = Object.fromEntries(there.searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: LOGIN_CLIENT.id,
      redirect_uri: `${PUBLIC_URL}/login/callback`,
      scope: 'openid profile email',
      code_challenge_method: 'S256',
    });
    const other = new TestBrowser(service);
    const next = new URL((await other.visit('/login/start')) ?? '');
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(asked[name]).toMatch(/^[\w-]{43}$/);
      expect(next.searchParams.get(name)).not.toBe(asked[name]);
    }
    await other.open(provider.answerTo(there.href));
    expect(other.page).toContain('began in another browser');
    expect((await other.read('/console/session')).status).toBe(204);
  });

  it('lead back only to pages of this service', async () => {
    for (const [to, opened] of [
      ['/console/servers/github?tab=logs', '/console/servers/github?tab=logs'],
      ['//evil.example.com/', '/console/'],
      ['https://evil.example.com/', '/console/'],
      ['/console/../../evil"><script>', '/console/'],
      ['/console/../api/v1/aggregator/servers', '/console/'],
      ['/console/%2e%2e/api/v1/aggregator/servers', '/console/'],
    ] as const) {
      const browser = new TestBrowser(service);
      browser.staysOnPages = true;
      const start = `/login/start?to=${encodeURIComponent(to)}`;
      await browser.open(provider.answerTo((await browser.visit(start)) ?? ''));
      expect(browser.page).toContain(`content="0;url=${PUBLIC_URL}${opened}"`);
    }
  });

  it('are asked before a link of another site begins a login', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site };
      const asked = await at(service, '/login/start?to=/console/servers', { headers });
      expect(asked.status).toBe(200);
      expect(asked.headers['set-cookie']).toBeUndefined();
      expect(asked.text).toContain('href="/login/start?to=%2Fconsole%2Fservers"');
    }
  });

  it('let OAuth clients act for them, until their group has no role any more', async () => {
    const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
    const registered = await at(service, '/register', { method: 'POST', body });
    const { client_id: clientId } = registered.body as { client_id: string };
    const resource = `${PUBLIC_URL}/mcp`;
    const client = new TestClient(service, { clientId, redirectUri, resource });
    const browser = new TestBrowser(service);
    provider.claims = { sub: 'bo', email: 'bo@example.com', email_verified: true };
    await browser.open(client.authorizeUrl());
    const [, link = ''] = /href="(\/login\/start[^"]+)"/.exec(browser.page) ?? [];
    const there = (await browser.visit(link)) ?? '';
    await browser.open(provider.answerTo(there));
    expect(browser.page).toContain('<b>bo@example.com</b>');
    const answer = await client.redeem((await browser.allow()) ?? '');
    const { access_token: token, refresh_token: refresh } = answer.body as Tokens;
    expect((await mcp(service, '/mcp', token, 'tools/call')).status).toBe(200);

    const refused = await loggedIn({ sub: 'bo', groups: ['others'] });
    expect(refused.page).toContain('MCP_AGGREGATOR_LOGIN_ROLES');
    expect((await mcp(service, '/mcp', token)).status).toBe(401);
    expect((await client.refresh(refresh)).status).toBe(400);
    expect((await browser.read('/console/session')).status).toBe(204);
    // The account ended: what it gave does not come back with another one.
    expect(await sessionOf(await loggedIn({ sub: 'bo' }))).toMatchObject({ name: 'bo' });
    expect((await mcp(service, '/mcp', token)).status).toBe(401);
  });

  it('have the newest role in all of their sessions', async () => {
    const before = await loggedIn({ sub: 'cy' });
    const now = await loggedIn({ sub: 'cy', groups: [], realm_access: { roles: ['ops'] } });
    const all = { scopes: ['read', 'call', 'operate', 'admin'] };
    expect(await sessionOf(now)).toMatchObject(all);
    expect(await sessionOf(before)).toMatchObject(all);
  });

  it('lose sessions and clients when an administrator ends the account', async () => {
    const admin = await loggedIn({ sub: 'gil', groups: [], realm_access: { roles: ['ops'] } });
    const browser = await loggedIn({ sub: 'hal' });
    const listed = await admin.read('/api/v1/aggregator/people?limit=500');
    const { people } = listed.body as { people: { id: string; subject: string }[] };
    const hal = people.find(({ subject }) => subject === 'hal');
    expect(hal).toMatchObject({ issuer: provider.issuer, role: 'caller', active: true });
    expect(listed.text).not.toMatch(/hash/);
    const end = (id = '') =>
      admin.read(`/api/v1/aggregator/people/${id}`, {
        method: 'DELETE',
        headers: { 'x-requested-with': 'switchboard-console' },
      });
    expect((await end(hal?.id)).status).toBe(204);
    expect((await browser.read('/console/session')).status).toBe(204);
    for (const id of [hal?.id, 'hal']) {
      const again = await end(id);
      expect([again.status, again.body]).toMatchObject([404, { error_code: 'PERSON_NOT_FOUND' }]);
    }
    const audit = await admin.read('/api/v1/aggregator/audit?actor=jwt%3Agil');
    expect(audit.body).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({
          event: 'console.account_ended',
          details: { person_id: hal?.id, person: 'hal', subject: `jwt:${provider.issuer} hal` },
        }),
        expect.objectContaining({
          event: 'console.logged_in',
          details: { by: 'provider', person: 'gil', scopes: ['admin'] },
        }),
      ]),
    });
  });

  it('are named in the audit log with the reason when they may not log in', async () => {
    const admin = await loggedIn({ sub: 'gil', groups: [], realm_access: { roles: ['ops'] } });
    await loggedIn({ sub: 'ida', groups: ['others'] });
    const audit = await admin.read('/api/v1/aggregator/audit?actor=jwt%3Aida');
    expect(audit.body).toMatchObject({
      entries: [
        {
          event: 'console.login_refused',
          outcome: 'refused',
          actor_subject: `jwt:${provider.issuer} ida`,
          details: { by: 'provider', person: 'ida', reason: 'role' },
        },
      ],
    });
  });

  it('are known by issuer and subject, whatever name and address they have', async () => {
    const first = await loggedIn({ sub: 'dee', email: 'x@example.com', email_verified: true });
    const other = await loggedIn({ sub: 'eve', email: 'x@example.com', email_verified: false });
    expect(await sessionOf(first)).toMatchObject({ name: 'x@example.com' });
    expect(await sessionOf(other)).toMatchObject({ name: 'eve' });
  });

  it.each<[string, Record<string, unknown>]>([
    ['of another issuer', { iss: 'https://evil.example.com' }],
    ['for another client', { aud: 'another' }],
    [
      'for several clients, given to another',
      { aud: [LOGIN_CLIENT.id, 'another'], azp: 'another' },
    ],
    ['for several clients, given to none', { aud: [LOGIN_CLIENT.id, 'another'] }],
    ['of another login', { nonce: 'x'.repeat(43) }],
    ['without a nonce', { nonce: undefined }],
    ['that has expired', { exp: 1_700_000_000 }],
    ['that never expires', { exp: undefined }],
    ['without a subject', { sub: undefined }],
    ['with a subject that could pose as another', { sub: 'ada\u202e' }],
  ])('are not logged in by an ID token %s', async (_, claims) => {
    const browser = await loggedIn(claims);
    expect(browser.page).toContain('You are not logged in');
    expect((await browser.read('/console/session')).status).toBe(204);
  });

  it.each([{ alg: 'none' }, { alg: 'HS256', kid: 'first' }, { alg: 'ES256', kid: 'unknown' }])(
    'are not logged in by an ID token signed with %j',
    async (header) => {
      provider.header = header;
      const browser = await loggedIn();
      expect(browser.page).toContain('You are not logged in');
      expect((await browser.read('/console/session')).status).toBe(204);
    },
  );

  it('are logged in once by an answer of the provider', async () => {
    const browser = new TestBrowser(service);
    const back = provider.answerTo((await browser.visit('/login/start')) ?? '');
    await browser.open(back);
    await browser.open(back);
    expect(browser.page).toContain('This login is over');
  });

  it('are not logged in by the answer of another provider (mix-up)', async () => {
    const before = provider.tokenRequests;
    for (const iss of ['https://evil.example.com', '']) {
      expect((await loggedIn({}, { iss })).page).toContain('You are not logged in');
    }
    // No other provider may be sent the code of this one, nor this one that of another.
    expect(provider.tokenRequests).toBe(before);
    expect(await sessionOf(await loggedIn({}, { iss: provider.issuer }))).toMatchObject({});
  });

  it('read why the provider did not log them in, and no markup of it', async () => {
    const browser = await loggedIn(
      {},
      { error: 'access_denied', error_description: 'not <b>today</b>' },
    );
    expect(browser.page).toContain('not &lt;b&gt;today&lt;/b&gt;');
  });

  it.each<[string, NonNullable<TestIdentityProvider['answerTokens']>]>([
    ['refuses', (response) => response.writeHead(401).end('{"error":"invalid_client"}')],
    ['answers no JSON', (response) => response.end('<h1>hello</h1>')],
    ['answers with too much', (response) => response.end(`{"x":"${'x'.repeat(300_000)}"}`)],
    ['redirects', (response) => response.writeHead(307, { location: '/token' }).end()],
    ['closes the connection', (response) => response.destroy()],
    ['does not answer', () => undefined],
  ])('are told when the provider %s', async (_, answer) => {
    provider.answerTokens = answer;
    const browser = await loggedIn();
    expect(browser.page).toContain('You are not logged in');
    expect(browser.page).toContain(new URL(provider.issuer).host);
  });
});

describe('an identity provider', () => {
  let provider: TestIdentityProvider;
  const services: TestApp[] = [];

  beforeAll(async () => {
    provider = await TestIdentityProvider.start();
  });
  beforeEach(() => provider.reset());
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });
  afterAll(() => provider.stop());

  const serviceWith = async (settings: Record<string, string> = {}): Promise<TestApp> => {
    const service = await startApp({
      ...oauthSettings,
      ...provider.settings,
      MCP_AGGREGATOR_LOGIN_ROLES: '*=viewer',
      ...settings,
    });
    services.push(service);
    return service;
  };
  const logIn = async (service: TestApp, claims: Record<string, unknown> = {}) => {
    provider.claims = claims;
    const browser = new TestBrowser(service);
    const there = await browser.visit('/login/start');
    if (there !== undefined) await browser.open(provider.answerTo(there));
    return browser;
  };

  it.each([
    [{ issuer: 'https://evil.example.com' }, 'MCP_AGGREGATOR_LOGIN_ISSUER'],
    [{ token_endpoint: 'http://id.example.com/token' }, 'not reached by https:'],
    [{ jwks_uri: 'file:///etc/passwd' }, 'not reached by https:'],
    [{ authorization_endpoint: 'javascript:alert(1)' }, 'not reached by https:'],
    [{ authorization_endpoint: 7 }, 'MCP_AGGREGATOR_LOGIN_ISSUER'],
  ])('is not asked when its metadata say %j', async (metadata, problem) => {
    provider.metadata = metadata;
    const browser = await logIn(await serviceWith());
    expect(browser.page).toContain(problem);
    provider.reset();
    expect(await logIn(await serviceWith())).toMatchObject({
      page: expect.not.stringContaining('You are not logged in'),
    });
  });

  it('has to name itself in its answers when it says that it does', async () => {
    provider.metadata = { authorization_response_iss_parameter_supported: true };
    expect((await logIn(await serviceWith())).page).toContain('You are not logged in');
  });

  it('is believed with the keys that it publishes, and no longer with another', async () => {
    await provider.addKey('second');
    provider.header = { alg: 'ES256', kid: 'second' };
    expect((await logIn(await serviceWith())).page).not.toContain('You are not logged in');
    provider.removeKey('second');
    expect((await logIn(await serviceWith())).page).toContain('You are not logged in');
  });

  it('is asked by a client without a secret', async () => {
    const service = await serviceWith({ MCP_AGGREGATOR_LOGIN_CLIENT_SECRET: '' });
    const browser = await logIn(service);
    expect((await browser.read('/console/session')).body).toMatchObject({ scopes: ['read'] });
    expect(provider.authorization).toBeUndefined();
  });

  it('decides by the domain of a verified address where domains are set', async () => {
    const service = await serviceWith({ MCP_AGGREGATOR_LOGIN_DOMAINS: 'example.com' });
    const status = async (claims: Record<string, unknown>) =>
      (await (await logIn(service, claims)).read('/console/session')).status;
    expect(await status({ email: 'a@Example.com', email_verified: true })).toBe(200);
    expect(await status({ email: 'a@example.com', email_verified: false })).toBe(204);
    expect(await status({ email: 'a@example.com', email_verified: 'true' })).toBe(204);
    expect(await status({ email: 'a@evil.com', email_verified: true })).toBe(204);
    expect(await status({ email: 'a@example.com@evil.com', email_verified: true })).toBe(204);
    expect(await status({})).toBe(204);
    const page = async (claims: Record<string, unknown>) => (await logIn(service, claims)).page;
    expect(await page({ email: 'a@evil.com', email_verified: true })).toContain('of none of');
    expect(await page({ email: 'a@example.com' })).toContain('is verified');
  });

  it('logs in people whose JWTs are accepted, as the same person', async () => {
    const jwt = {
      MCP_AGGREGATOR_OAUTH: 'auto',
      MCP_AGGREGATOR_JWKS_URL: `${provider.issuer}/keys`,
      MCP_AGGREGATOR_JWT_ISSUER: provider.issuer,
      MCP_AGGREGATOR_JWT_AUDIENCE: LOGIN_CLIENT.id,
      MCP_AGGREGATOR_LOGIN_ROLES: '*=admin',
    };
    const service = await serviceWith(jwt);
    const browser = await logIn(service, { sub: 'fay' });
    expect((await browser.read('/console/session')).body).toMatchObject({ name: 'fay' });
    const audit = await browser.read('/api/v1/aggregator/audit?actor=jwt%3Afay');
    expect(audit.body).toMatchObject({
      entries: [expect.objectContaining({ event: 'console.logged_in' })],
    });
  });
});

describe('an identity provider in a process of its own', () => {
  it('logs people in at its realm, with roles by a path of claims', async () => {
    const peer = await httpPeer('identity-provider.mjs', [`${PUBLIC_URL}/login/callback`]);
    const service = await startApp({
      ...oauthSettings,
      MCP_AGGREGATOR_LOGIN_ISSUER: peer.url,
      MCP_AGGREGATOR_LOGIN_CLIENT_ID: 'switchboard',
      MCP_AGGREGATOR_LOGIN_CLIENT_SECRET: 'secret-of-switchboard',
      MCP_AGGREGATOR_LOGIN_ROLES: 'ops-role=operator,/ada-group=viewer',
      MCP_AGGREGATOR_JWT_ROLES_CLAIM: 'realm_access.roles',
    });
    try {
      const sessionAs = async (name: string) => {
        const browser = new TestBrowser(service);
        const there = (await browser.visit('/login/start')) ?? '';
        await browser.open(await followWithin(peer.url, `${there}&login_as=${name}`));
        return browser.read('/console/session');
      };
      expect((await sessionAs('ada')).body).toMatchObject({ scopes: ['read'] });
      expect((await sessionAs('ops')).body).toMatchObject({
        name: 'ops@example.com',
        scopes: ['read', 'call', 'operate'],
      });
      expect((await sessionAs('eve')).status).toBe(204);
    } finally {
      await service.close();
      await peer.stop();
    }
  });
});
