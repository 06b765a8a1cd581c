import { AuthorizationServer } from '@app/oauth';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import {
  at,
  mcp,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';
import { createDatabase } from '../support/postgres.js';

const redirectUri = 'https://claude.ai/api/mcp/auth_callback';

async function connected(service: TestApp, credential: string) {
  const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
  const registered = await at(service, '/register', { method: 'POST', body });
  const { client_id: clientId } = registered.body as { client_id: string };
  const shape = { clientId, redirectUri, resource: `${PUBLIC_URL}/mcp` };
  const client = new TestClient(service, shape);
  const browser = new TestBrowser(service);
  await browser.open(client.authorizeUrl());
  await browser.logIn(credential);
  const answer = await client.redeem((await browser.allow()) ?? '');
  return { client, tokens: answer.body as Tokens };
}

describe('OAuth clients of two replicas', () => {
  let here: TestApp;
  let there: TestApp;

  beforeAll(async () => {
    const more = { ...oauthSettings, DATABASE_URL: await createDatabase() };
    const tokens = { MCP_AGGREGATOR_TOKENS: `ops:admin:${'a'.repeat(32)}` };
    here = await startApp({ ...more, ...tokens });
    there = await startApp({ ...more, ...tokens });
  });

  afterAll(async () => {
    await there.close();
    await here.close();
  });

  const token = 'a'.repeat(32);

  it('are known at both at once, with one key', async () => {
    const { client, tokens } = await connected(here, token);
    expect((await mcp(there, '/mcp', tokens.access_token)).status).toBe(200);
    const other = new TestClient(there, client.shape);
    const refreshed = (await other.refresh(tokens.refresh_token)).body as Tokens;
    expect((await mcp(here, '/mcp', refreshed.access_token)).status).toBe(200);
    expect((await at(here, '/jwks')).body).toEqual((await at(there, '/jwks')).body);
  });

  it('refuses at both what was withdrawn at one', async () => {
    const { tokens } = await connected(here, token);
    expect((await mcp(there, '/mcp', tokens.access_token)).status).toBe(200);
    const list = await send(here.url, '/api/v1/oauth/grants', { token });
    const { grants } = list.body as { grants: { id: string }[] };
    const path = `/api/v1/oauth/grants/${grants[0]?.id ?? ''}`;
    expect((await send(here.url, path, { method: 'DELETE', token })).status).toBe(204);
    expect((await mcp(here, '/mcp', tokens.access_token)).status).toBe(401);
    await eventually(async () => {
      expect((await mcp(there, '/mcp', tokens.access_token)).status).toBe(401);
    });
  });
});

describe('a service without OAuth clients', () => {
  it('loads no authorization server unless it is on', async () => {
    const off = await startApp();
    try {
      const paths = ['/authorize', '/jwks', '/.well-known/oauth-authorization-server'];
      for (const path of paths) {
        expect((await send(off.url, path, { token: off.token })).status).toBe(404);
      }
      expect(off.app.get(AuthorizationServer, { strict: false }).isLoaded).toBe(false);
    } finally {
      await off.close();
    }
  });

  it('answers metadata and keys, and refuses wrong tokens, without loading it', async () => {
    const on = await startApp(oauthSettings);
    try {
      for (const suffix of ['', '/mcp', '/mcp/servers/github']) {
        const found = await at(on, `/.well-known/oauth-authorization-server${suffix}`);
        expect(found.body).toMatchObject({
          issuer: PUBLIC_URL,
          authorization_endpoint: `${PUBLIC_URL}/authorize`,
          code_challenge_methods_supported: ['S256'],
          client_id_metadata_document_supported: true,
          authorization_response_iss_parameter_supported: true,
        });
        const resource = await at(on, `/.well-known/oauth-protected-resource${suffix}`);
        expect(resource.body).toMatchObject({
          resource: `${PUBLIC_URL}${suffix}`,
          authorization_servers: [PUBLIC_URL],
        });
      }
      const { keys } = (await at(on, '/jwks')).body as { keys: object[] };
      expect(keys).toEqual([expect.objectContaining({ kty: 'EC', alg: 'ES256' })]);
      expect(JSON.stringify(keys)).not.toContain('"d"');
      expect((await mcp(on, '/mcp', 'a.b.c')).status).toBe(401);
      expect(on.app.get(AuthorizationServer, { strict: false }).isLoaded).toBe(false);
    } finally {
      await on.close();
    }
  });
});
