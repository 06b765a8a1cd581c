import pg from 'pg';
import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import {
  at,
  form,
  mcp,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';
import { createDatabase } from '../support/postgres.js';

const redirectUri = 'https://claude.ai/api/mcp/auth_callback';
const PASSWORD = 'correct horse battery';
const ours = { origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' };

describe('people with a password', () => {
  let service: TestApp;
  let database: string;
  let clientId: string;
  let count = 0;

  beforeAll(async () => {
    database = await createDatabase();
    service = await startApp({
      ...oauthSettings,
      DATABASE_URL: database,
      // Each person of these tests comes from an address of its own: wrong logins count by address.
      MCP_AGGREGATOR_TRUST_PROXY: 'true',
    });
    const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
    const answer = await at(service, '/register', { method: 'POST', body });
    clientId = (answer.body as { client_id: string }).client_id;
  });
  afterAll(() => service.close());

  const admin = (method: string, path: string, body?: object) =>
    send(service.url, `/api/v1/aggregator/tokens${path}`, {
      method,
      token: service.token,
      ...(body && { body: JSON.stringify(body) }),
    });
  const invited = async (role = 'caller') => {
    const name = `person-${count++}`;
    const { id } = (await admin('POST', '', { name, role })).body as { id: string };
    const invitation = await admin('POST', `/${id}/invitations`);
    const { url } = invitation.body as { url: string };
    const [page, code = ''] = url.split('#');
    expect([invitation.status, page]).toEqual([201, `${PUBLIC_URL}/oauth/password`]);
    return { id, name, code };
  };
  const choose = (code: string, password = PASSWORD, headers: Record<string, string> = ours) => {
    const from = { 'x-forwarded-for': `10.1.${count >> 8}.${count & 255}` };
    return form(service, '/oauth/password', { code, password }, { ...from, ...headers });
  };
  const person = async (role?: string) => {
    const one = await invited(role);
    expect((await choose(one.code)).status).toBe(200);
    return one;
  };
  /** A browser at the question of a client, before the login. */
  const asked = async () => {
    const client = new TestClient(service, {
      clientId,
      redirectUri,
      resource: `${PUBLIC_URL}/mcp`,
    });
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    count += 1;
    const from = { 'x-forwarded-for': `10.2.${count >> 8}.${count & 255}` };
    const logIn = (name: string, password: string) =>
      browser.submit('login', { name, password }, { ...ours, ...from });
    return { client, browser, logIn };
  };

  it('choose it by an invitation, and let clients act for them', async () => {
    const { id, name } = await person('viewer');
    const { client, browser, logIn } = await asked();
    await logIn(name, PASSWORD);
    expect(browser.page).toContain(`<b>${name}</b>`);
    const tokens = (await client.redeem((await browser.allow()) ?? '')).body as Tokens;
    expect(tokens.scope).toBe('read');
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(200);
    expect((await mcp(service, '/mcp', tokens.access_token, 'tools/call')).status).toBe(403);

    expect((await admin('DELETE', `/${id}`)).status).toBe(204);
    expect((await mcp(service, '/mcp', tokens.access_token)).status).toBe(401);
    const again = await asked();
    await again.logIn(name, PASSWORD);
    expect(again.browser.page).toContain('the password is wrong');
  });

  it('are logged in by choosing it', async () => {
    const { name, code } = await invited();
    const answer = await choose(code);
    expect(answer.text).toContain(`You are ${name}`);
    const cookie = (answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';
    const session = await at(service, '/console/session', { headers: { cookie } });
    expect(session.body).toMatchObject({ name });
  });

  it('choose it once, and only on a page of this service', async () => {
    const { code } = await invited();
    for (const headers of [{}, { origin: 'https://evil.example.com' }]) {
      expect((await choose(code, PASSWORD, headers)).status).toBe(403);
    }
    expect((await choose(code, 'short')).status).toBe(400);
    expect((await choose(code)).status).toBe(200);
    const again = await choose(code, 'another password of mine');
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('used already')]);
  });

  it('choose another one by another invitation, which ends the one before', async () => {
    const { id, name, code } = await invited();
    const { url } = (await admin('POST', `/${id}/invitations`)).body as { url: string };
    expect((await choose(code)).status).toBe(400);
    expect((await choose(url.split('#')[1] ?? '', 'another password of mine')).status).toBe(200);
    const { browser, logIn } = await asked();
    await logIn(name, PASSWORD);
    expect(browser.page).toContain('the password is wrong');
    await logIn(name, 'another password of mine');
    expect(browser.page).toContain('act for you?');
  });

  it('are locked out after ten wrong ones, and learn nothing of who has one', async () => {
    const { name } = await person();
    const { browser, logIn } = await asked();
    const pages = new Set<string>();
    for (let i = 0; i < 10; i++) {
      await logIn(name, `wrong password ${i}`);
      pages.add(browser.page);
    }
    await logIn(name, PASSWORD);
    pages.add(browser.page);
    await logIn('no-such-person', PASSWORD);
    pages.add(browser.page);
    expect([...pages]).toEqual([expect.stringContaining('the password is wrong')]);
  });

  it('have no password before they choose one', async () => {
    const { name } = await invited();
    const { browser, logIn } = await asked();
    for (const password of ['', 'null', ' '.repeat(12)]) {
      await logIn(name, password);
      expect(browser.page).toContain('the password is wrong');
    }
  });

  it('are kept as hashes, and appear in the audit log without codes and passwords', async () => {
    const { code } = await person();
    const client = new pg.Client(database);
    await client.connect();
    const { rows } = await client.query(
      'SELECT row_to_json(p)::text AS row FROM mcp.passwords AS p',
    );
    await client.end();
    const audit = await send(service.url, '/api/v1/aggregator/audit?limit=500', {
      token: service.token,
    });
    expect(audit.text).toContain('token.password_chosen');
    for (const secret of [code, PASSWORD]) {
      expect(JSON.stringify(rows) + audit.text).not.toContain(secret);
    }
  });
});

describe('a service without OAuth clients', () => {
  it('invites no person, because there is no page to choose a password', async () => {
    const off = await startApp();
    try {
      const issued = await send(off.url, '/api/v1/aggregator/tokens', {
        method: 'POST',
        token: off.token,
        body: JSON.stringify({ name: 'ada', role: 'caller' }),
      });
      const { id } = issued.body as { id: string };
      const path = `/api/v1/aggregator/tokens/${id}/invitations`;
      expect(await send(off.url, path, { method: 'POST', token: off.token })).toMatchObject({
        status: 409,
        body: { error_code: 'NOT_CONFIGURED' },
      });
    } finally {
      await off.close();
    }
  });
});
