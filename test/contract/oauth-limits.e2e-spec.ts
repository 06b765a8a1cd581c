import { startApp, type TestApp } from '../support/app.js';
import {
  at,
  ClientHost,
  form,
  mcp,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
} from '../support/oauth-clients.js';

const redirectUri = 'https://claude.ai/api/mcp/auth_callback';

describe('OAuth where origins and addresses of servers are allowed by name', () => {
  let service: TestApp;
  let clientId: string;

  beforeAll(async () => {
    service = await startApp({
      ...oauthSettings,
      MCP_AGGREGATOR_ALLOWED_ORIGINS: 'https://app.example.com',
      MCP_AGGREGATOR_EGRESS: 'local',
      MCP_AGGREGATOR_EGRESS_ALLOW: 'localhost,127.0.0.0/8',
    });
    const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
    const answer = await at(service, '/register', { method: 'POST', body });
    clientId = (answer.body as { client_id: string }).client_id;
  });
  afterAll(() => service.close());

  it.each(['http://localhost:6274', 'https://app.example.com'])(
    'answers a client in a page of %s at its own routes, and at others by the setting',
    async (origin) => {
      for (const path of ['/token', '/revoke']) {
        const answer = await form(service, path, { client_id: clientId }, { origin });
        expect(answer.status).not.toBe(403);
        expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*' });
      }
      const metadata = '/.well-known/oauth-authorization-server';
      const read = await at(service, metadata, { headers: { origin } });
      expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, '*']);
      const preflight = await at(service, '/token', {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([
        204,
        '*',
      ]);
      const resource = await at(service, '/.well-known/oauth-protected-resource', {
        headers: { origin },
      });
      expect(resource.status).toBe(origin === 'https://app.example.com' ? 200 : 403);
    },
  );

  it('keeps a state of 2,048 characters for a client, and refuses a longer one', async () => {
    const client = new TestClient(service, {
      clientId,
      redirectUri,
      resource: `${PUBLIC_URL}/mcp`,
    });
    const asked = new TestBrowser(service);
    await asked.open(client.authorizeUrl({ state: 's'.repeat(2_048) }));
    expect(asked.page).toContain('Log in to decide about a client');
    const back = await asked.logIn(service.token).then(() => asked.allow());
    expect(new URL(back ?? '').searchParams.get('state')).toHaveLength(2_048);

    const { pathname, search } = new URL(client.authorizeUrl({ state: 's'.repeat(2_049) }));
    const refused = await at(service, pathname + search);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('longer than 2048 characters');
    expect(refused.headers).not.toHaveProperty('set-cookie');
  });

  it('fetches no document of a client on this machine, whatever servers may be reached', async () => {
    const host = await ClientHost.start();
    try {
      const id = host.publish('/client.json', { client_name: 'x', redirect_uris: [redirectUri] });
      for (const address of [id, id.replace('localhost', '127.0.0.1')]) {
        const client = new TestClient(service, { clientId: address, redirectUri });
        const browser = new TestBrowser(service);
        await browser.open(client.authorizeUrl());
        expect(browser.page).toContain('This client cannot be connected');
      }
      expect(host.asked).toBe(0);
      expect((await mcp(service, '/mcp', 'a.b.c')).status).toBe(401);
    } finally {
      host.stop();
    }
  });
});

describe('OAuth at a service without access to the internet', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startApp({ ...oauthSettings, MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS: 'false' });
  });
  afterAll(() => service.close());

  it('lets clients register instead of naming themselves by a document', async () => {
    const metadata = await at(service, '/.well-known/oauth-authorization-server');
    expect(metadata.body).toMatchObject({ registration_endpoint: `${PUBLIC_URL}/register` });
    expect(metadata.body).not.toHaveProperty('client_id_metadata_document_supported');
    const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
    const registered = await at(service, '/register', { method: 'POST', body });
    const { client_id: clientId } = registered.body as { client_id: string };
    const browser = new TestBrowser(service);
    await browser.open(new TestClient(service, { clientId, redirectUri }).authorizeUrl());
    expect(browser.page).toContain('Log in');
  });

  it('tells one that still names a document that it has to register', async () => {
    const clientId = 'https://claude.ai/oauth/claude-code-client-metadata';
    const browser = new TestBrowser(service);
    await browser.open(new TestClient(service, { clientId, redirectUri }).authorizeUrl());
    expect(browser.page).toContain('This client cannot be connected');
    expect(browser.page).toContain('so that the client registers');
  });
});
