import { Database, RowWatches } from '@app/platform';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { Browser, OWN_PAGE } from '../support/console.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { createDatabase } from '../support/postgres.js';

const SERVERS = '/api/v1/aggregator/servers';
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'console', version: '1' },
  },
});

async function issue(
  service: TestApp,
  body: object,
): Promise<{ readonly id: string; readonly token: string }> {
  const answer = await new Api(service).call('POST', '/tokens', { scopes: ['call'], ...body });
  expect(answer.status).toBe(201);
  return answer.body as { id: string; token: string };
}

async function loggedIn(service: TestApp, token = service.token): Promise<Browser> {
  const browser = new Browser(service.url);
  expect((await browser.logIn({ token })).status).toBe(200);
  return browser;
}

async function auditOf(service: TestApp, event: string): Promise<object[]> {
  const { body } = await new Api(service).call('GET', `/audit?limit=500&event=${event}`);
  return body['entries'] as object[];
}

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('a browser session, on %s', (_, settings) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp(settings);
  });
  afterAll(() => service.close());

  it('says who is logged in, with every scope that is implied', async () => {
    const browser = new Browser(service.url);
    const answer = await browser.logIn({ token: service.tokens.call });
    const view = {
      name: 'call',
      scopes: ['read', 'call'],
      view: null,
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    expect([answer.status, answer.body]).toEqual([200, view]);
    expect(answer.headers['cache-control']).toBe('no-store');
    const again = await browser.session();
    expect([again.status, again.body]).toEqual([200, view]);
  });

  it('has a cookie that no script reads, and rows and answers without its id or the token', async () => {
    const browser = new Browser(service.url);
    const answer = await browser.logIn({ token: service.token });
    const { port } = new URL(service.url);
    const [, id = ''] = /=([\w-]{43});/.exec(answer.headers['set-cookie'] ?? '') ?? [];
    expect(answer.headers['set-cookie']).toBe(
      `switchboard_session_${port}=${id}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict`,
    );
    const rows = await service.app
      .get(Database, { strict: false })
      .direct.query('SELECT * FROM mcp.browser_sessions');
    const stored = JSON.stringify([rows, await auditOf(service, 'console.logged_in')]);
    expect(stored).not.toContain(id);
    expect(stored + answer.text).not.toContain(service.token);
  });

  it('is sent over TLS only where the browser uses TLS', async () => {
    const browser = new Browser(service.url);
    const answer = await browser.send('/console/session', {
      method: 'POST',
      headers: { origin: `https://${new URL(service.url).host}` },
      body: JSON.stringify({ token: service.token }),
    });
    expect(answer.headers['set-cookie']).toMatch(/; SameSite=Strict; Secure$/);
  });

  it('opens the API, MCP, the documentation and the metrics, as far as its token does', async () => {
    const browser = await loggedIn(service);
    for (const path of [SERVERS, '/docs', '/docs/openapi.json', '/metrics']) {
      expect([path, (await browser.send(path)).status]).toEqual([path, 200]);
    }
    const accept = 'application/json, text/event-stream';
    const mcp = { method: 'POST', headers: { accept }, body: INITIALIZE };
    expect((await browser.send('/mcp', mcp)).status).toBe(200);
    expect((await browser.send('/no/such/route')).status).toBe(404);
    const caller = await loggedIn(service, service.tokens.call);
    expect((await caller.send('/api/v1/aggregator/tokens')).status).toBe(403);
    expect((await caller.send(SERVERS)).status).toBe(200);
  });

  it('acts in the name of its token', async () => {
    const { id } = await issue(service, { name: 'acting', scopes: ['admin'] });
    const rotated = await new Api(service).call('POST', `/tokens/${id}/rotate`, {});
    const browser = await loggedIn(service, String(rotated.body['token']));
    const made = await browser.send('/api/v1/aggregator/tokens', {
      method: 'POST',
      body: '{"name":"made-by-a-page","scopes":["read"]}',
    });
    expect([made.status, made.body]).toMatchObject([201, { created_by: 'acting' }]);
  });

  it.each([
    ['another origin', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { 'sec-fetch-site': 'same-site' }],
    ['another page, without Sec-Fetch-Site', { origin: 'http://127.0.0.1:1' }],
  ])('is ignored with a request of %s', async (_what, headers) => {
    const { cookie } = await loggedIn(service);
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await send(service.url, SERVERS, {
        method,
        headers: { ...headers, ...OWN_PAGE, cookie: String(cookie) },
        ...(method === 'POST' && { body: '{}' }),
      });
      // A foreign Origin is refused before anything else.
      expect(answer.status).toBe('origin' in headers ? 403 : 401);
    }
  });

  it('changes nothing without the header that only its own pages send', async () => {
    const { cookie } = await loggedIn(service);
    const answer = await send(service.url, '/api/v1/aggregator/tokens', {
      method: 'POST',
      headers: { cookie: String(cookie), 'sec-fetch-site': 'same-origin' },
      body: '{"name":"forged","scopes":["admin"]}',
    });
    expect(answer.status).toBe(401);
  });

  it('counts for nothing beside an Authorization header', async () => {
    const browser = await loggedIn(service);
    const wrong = { headers: { authorization: 'Bearer token-of-another-user' } };
    expect((await browser.send(SERVERS, wrong)).status).toBe(401);
    const reader = { headers: { authorization: `Bearer ${service.tokens.read}` } };
    expect((await browser.send('/api/v1/aggregator/tokens', reader)).status).toBe(403);
  });

  it('ends with its logout, which takes the cookie away', async () => {
    const browser = await loggedIn(service);
    const stolen = browser.at(service.url);
    const answer = await browser.logOut();
    expect([answer.status, browser.cookie]).toEqual([204, undefined]);
    expect(answer.headers['set-cookie']).toMatch(/=; Path=\/; Max-Age=0;/);
    expect((await stolen.send(SERVERS)).status).toBe(401);
    expect(await stolen.session()).toMatchObject({ status: 204, text: '' });
    expect((await stolen.logOut()).status).toBe(204);
  });

  it('is not ended by another page', async () => {
    const browser = await loggedIn(service);
    for (const headers of [{ 'x-requested-with': '' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await browser.send('/console/session', { method: 'DELETE', headers });
      expect(answer.status).toBe(403);
    }
    expect((await browser.session()).status).toBe(200);
  });

  it('ends with its token: revoked, rotated away, or expired', async () => {
    const api = new Api(service);
    const sessionOf = async (name: string): Promise<[string, Browser]> => {
      const { id, token } = await issue(service, { name, expires_in_seconds: 600 });
      return [id, await loggedIn(service, token)];
    };
    const [revoked, first] = await sessionOf('revoked');
    const [rotated, second] = await sessionOf('rotated');
    const [expired, third] = await sessionOf('expired');
    const browsers = [first, second, third];
    for (const browser of browsers) expect((await browser.send(SERVERS)).status).toBe(200);

    expect((await api.call('DELETE', `/tokens/${revoked}`)).status).toBe(204);
    await api.call('POST', `/tokens/${rotated}/rotate`, { overlap_seconds: 0 });
    await service.app
      .get(Database, { strict: false })
      .direct.query('UPDATE mcp.issued_tokens SET expires_at = now() WHERE id = $1', [expired]);
    await service.app.get(RowWatches, { strict: false }).look();
    for (const browser of browsers) expect((await browser.send(SERVERS)).status).toBe(401);
  });

  it('expires no later than its token', async () => {
    const { token } = await issue(service, { name: 'short', expires_in_seconds: 60 });
    const browser = await loggedIn(service, token);
    const { body } = await browser.session();
    const { expires_at: end } = body as { expires_at: string };
    expect(Date.parse(end)).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it('names the view that its token was issued for', async () => {
    const api = new Api(service);
    const view = { slug: 'support', rules: [{ effect: 'include' }] };
    expect(await api.call('POST', '/views', view)).toMatchObject({ status: 201 });
    const { token } = await issue(service, { name: 'pinned', view: 'support' });
    const browser = await loggedIn(service, token);
    expect((await browser.session()).body).toMatchObject({ name: 'pinned', view: 'support' });
  });

  it.each([
    ['a wrong token', 'wrong-token-of-a-caller', /not known here, or has expired/],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln', /takes a token of this service/],
  ])('is refused to %s, which no answer repeats', async (_what, token, sentence) => {
    const browser = new Browser(service.url);
    const answer = await browser.logIn({ token });
    expect([answer.status, browser.cookie]).toEqual([401, undefined]);
    expect(answer.text).toMatch(sentence);
    expect(answer.text).not.toContain(token);
  });

  it('is refused without a token, and from another page', async () => {
    const browser = new Browser(service.url);
    expect((await browser.logIn({})).status).toBe(422);
    expect((await browser.logIn({ token: service.token, name: 'x' })).status).toBe(422);
    for (const headers of [{ 'x-requested-with': '' }, { 'sec-fetch-site': 'same-site' }]) {
      const body = JSON.stringify({ token: service.token });
      const answer = await browser.send('/console/session', { method: 'POST', headers, body });
      expect(answer.status).toBe(403);
    }
    expect((await browser.session()).status).toBe(204);
  });

  it('stands in the audit log: logins, logouts and refused logins', async () => {
    const browser = await loggedIn(service, service.tokens.read);
    await browser.logOut();
    const who = { actor: 'read', ip_address: '127.0.0.1' };
    expect(await auditOf(service, 'console.logged_in')).toContainEqual(
      expect.objectContaining({ ...who, outcome: 'success', details: { by: 'token' } }),
    );
    expect(await auditOf(service, 'console.logged_out')).toContainEqual(
      expect.objectContaining(who),
    );
    await new Browser(service.url).logIn({ token: 'wrong-token-of-a-caller' });
    await eventually(async () => {
      const refused = { actor: 'anonymous', ip_address: '127.0.0.1' };
      expect(await auditOf(service, 'access.refused')).toContainEqual(
        expect.objectContaining({
          ...refused,
          details: expect.objectContaining({ route: '/console/session', status: 401 }),
        }),
      );
    });
  });
});

describe('logins at the console', () => {
  it('count with wrong tokens: too many of an address are refused, right ones are not', async () => {
    const service = await startApp();
    try {
      const browser = new Browser(service.url);
      const wrong = async (): Promise<number> =>
        (await browser.logIn({ token: 'wrong-token-of-a-caller' })).status;
      for (let i = 0; i < 15; i++) {
        expect((await send(service.url, SERVERS, { token: 'wrong-token' })).status).toBe(401);
        expect(await wrong()).toBe(401);
      }
      expect(await wrong()).toBe(429);
      expect((await send(service.url, SERVERS, { token: 'wrong-token' })).status).toBe(429);
      expect((await browser.logIn({ token: service.token })).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  it('do not exist where the console is off', async () => {
    const service = await startApp({ MCP_AGGREGATOR_CONSOLE: 'false' });
    try {
      const browser = new Browser(service.url);
      expect((await browser.logIn({ token: service.token })).status).toBe(401);
      const { token } = service;
      expect((await send(service.url, '/console/session', { token })).status).toBe(404);
    } finally {
      await service.close();
    }
  });
});

describe('a browser session behind a load balancer', () => {
  let one: TestApp;
  let other: TestApp;

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_TOKENS: 'ops:admin:a-token-of-both-replicas',
    };
    one = await startApp(settings);
    other = await startApp(settings);
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  /** As a load balancer passes it on: the same Host at every replica. */
  const headers = { host: '127.0.0.1:9999' };

  it('works at every replica at once, and ends at every replica', async () => {
    const browser = new Browser(one.url);
    const body = '{"token":"a-token-of-both-replicas"}';
    const begun = await browser.send('/console/session', { method: 'POST', headers, body });
    expect(begun.status).toBe(200);
    const elsewhere = browser.at(other.url);
    expect((await elsewhere.send(SERVERS, { headers })).status).toBe(200);
    expect(
      (await browser.at(one.url).send('/console/session', { method: 'DELETE', headers })).status,
    ).toBe(204);
    expect((await browser.send(SERVERS, { headers })).status).toBe(401);
    await eventually(async () =>
      expect((await elsewhere.send(SERVERS, { headers })).status).toBe(401),
    );
  });

  it('of a token that another replica has just issued works at once', async () => {
    const admin = { ...one, token: 'a-token-of-both-replicas' };
    const { token } = await issue(admin, { name: 'new' });
    const browser = new Browser(one.url);
    const body = JSON.stringify({ token });
    await browser.send('/console/session', { method: 'POST', headers, body });
    expect((await browser.at(other.url).send(SERVERS, { headers })).status).toBe(200);
  });
});
