import { CommandBus } from '@nestjs/cqrs';
import { SYSTEM } from '@app/access';
import { AuthorizationServer } from '@app/oauth';
import { Clock, Database, PassingOn, Peers } from '@app/platform';
import { RotateCredentials } from '@app/registry';
import pg from 'pg';
import { EndSessionsOnPolicyChanged } from '../../libs/gateway/src/notify/end-sessions.on-policy-changed.js';
import { newSigningKey } from '../../libs/oauth/src/keys/signing-key.js';
import { SigningKeys } from '../../libs/oauth/src/keys/signing-keys.js';
import { KeyStore } from '../../libs/oauth/src/rows/key.store.js';
import { startApp, stopIntervals, type TestApp } from '../support/app.js';
import { standingStream } from '../support/client-streams.js';
import { temporaryFolder } from '../support/env.js';
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
import { startProcess } from '../support/service-process.js';

const redirectUri = 'https://claude.ai/api/mcp/auth_callback';

async function connected(service: Pick<TestApp, 'url'>, credential: string) {
  const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
  const registered = await at(service, '/register', { method: 'POST', body });
  const { client_id: clientId } = registered.body as { client_id: string };
  const shape = { clientId, redirectUri, resource: `${PUBLIC_URL}/mcp` };
  const client = new TestClient(service, shape);
  const browser = new TestBrowser(service);
  await browser.open(client.authorizeUrl());
  await browser.logIn(credential);
  const back = (await browser.allow()) ?? '';
  const answer = await client.redeem(back);
  const code = new URL(back).searchParams.get('code') ?? '';
  return { client, code, tokens: answer.body as Tokens };
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

describe('a stream of a session at another replica', () => {
  let here: TestApp;
  let there: TestApp;
  const token = 'a'.repeat(32);

  beforeAll(async () => {
    const more = { ...oauthSettings, DATABASE_URL: await createDatabase() };
    const tokens = { MCP_AGGREGATOR_TOKENS: `ops:admin:${token}` };
    here = await startApp({ ...more, ...tokens });
    there = await startApp({ ...more, ...tokens });
    await eventually(() => {
      expect(here.app.get(Peers).get(there.app.get(Peers).self)).toBeDefined();
      expect(there.app.get(Peers).get(here.app.get(Peers).self)).toBeDefined();
    });
  });
  afterAll(async () => {
    await there.close();
    await here.close();
  });

  const streamOf = ({ access_token: own }: Tokens): Promise<Response> =>
    standingStream({ url: here.url, token: own }, '/mcp', there.url);

  it('ends with the grant of its client', async () => {
    const { tokens } = await connected(here, token);
    const stream = await streamOf(tokens);
    expect(there.app.get(PassingOn).standingStreams).toBe(1);
    const list = await send(here.url, '/api/v1/oauth/grants', { token });
    const { grants } = list.body as { grants: { id: string }[] };
    const path = `/api/v1/oauth/grants/${grants[0]?.id ?? ''}`;
    expect((await send(here.url, path, { method: 'DELETE', token })).status).toBe(204);
    // It ends: reading it resolves.
    await stream.text();
    expect(there.app.get(PassingOn).standingStreams).toBe(0);
  });

  it('ends with the access token of its client, which opens it again with the next one', async () => {
    const { client, tokens } = await connected(here, token);
    const stream = await streamOf(tokens);
    const clock = there.app.get(Clock);
    const now = clock.now.bind(clock);
    const job = there.app.get(EndSessionsOnPolicyChanged);
    job.endExpired();
    expect(there.app.get(PassingOn).standingStreams).toBe(1);
    clock.now = () => new Date(now().getTime() + 16 * 60_000);
    try {
      job.endExpired();
      await stream.text();
    } finally {
      clock.now = now;
    }
    const next = (await client.refresh(tokens.refresh_token)).body as Tokens;
    const again = await streamOf(next);
    await again.body?.cancel();
  });
});

describe('the key of OAuth tokens', () => {
  let here: TestApp;
  let there: TestApp;
  const token = 'a'.repeat(32);

  beforeAll(async () => {
    const more = { ...oauthSettings, DATABASE_URL: await createDatabase() };
    const tokens = { MCP_AGGREGATOR_TOKENS: `ops:admin:${token}` };
    here = await startApp({ ...more, ...tokens });
    there = await startApp({ ...more, ...tokens });
  });

  afterAll(async () => {
    await there.close();
    await here.close();
  });

  const rotate = async (service: TestApp, body: object = {}) => {
    const answer = await send(service.url, '/api/v1/oauth/keys/rotate', {
      method: 'POST',
      token,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return answer.body as { kid: string; previous_until: string };
  };
  const keyOf = (jwt: string): string => {
    const header = Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString();
    return (JSON.parse(header) as { kid: string }).kid;
  };
  const published = async (service: TestApp): Promise<string[]> =>
    ((await at(service, '/jwks')).body as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  const status = async (service: TestApp, jwt: string): Promise<number> =>
    (await mcp(service, '/mcp', jwt)).status;

  it('is replaced at every replica, while tokens of the one before are accepted', async () => {
    const { client, tokens } = await connected(here, token);
    const before = tokens.access_token;
    expect(await status(there, before)).toBe(200);
    const { kid, previous_until: until } = await rotate(there);
    expect(kid).not.toBe(keyOf(before));
    expect(Date.parse(until)).toBeGreaterThan(Date.now() + 1_000_000);
    await eventually(async () => {
      for (const one of [here, there]) {
        expect(await published(one)).toEqual([kid, keyOf(before)]);
      }
    });
    const next = (await client.refresh(tokens.refresh_token)).body as Tokens;
    expect(keyOf(next.access_token)).toBe(kid);
    for (const one of [here, there]) {
      expect(await status(one, before)).toBe(200);
      expect(await status(one, next.access_token)).toBe(200);
    }
  });

  it('is learned by a replica that missed the news, from a token that is signed with it', async () => {
    stopIntervals(there);
    const { client, tokens } = await connected(here, token);
    expect(await status(there, tokens.access_token)).toBe(200);
    const key = newSigningKey();
    const store = here.app.get(KeyStore, { strict: false });
    const database = here.app.get(Database, { strict: false });
    // Without a message to other replicas.
    await database.transaction((tx) => store.replace(key, false, tx));
    await here.app.get(SigningKeys, { strict: false }).reload();
    const next = (await client.refresh(tokens.refresh_token)).body as Tokens;
    expect(keyOf(next.access_token)).toBe(key.kid);
    expect(await status(there, next.access_token)).toBe(200);
  });

  it('is believed no more, nor those before it, when others may have one', async () => {
    const { client, tokens } = await connected(here, token);
    for (const one of [here, there]) expect(await status(one, tokens.access_token)).toBe(200);
    const { kid } = await rotate(here, { end_others: true });
    expect(await status(here, tokens.access_token)).toBe(401);
    await eventually(async () => {
      expect(await published(there)).toEqual([kid]);
      expect(await status(there, tokens.access_token)).toBe(401);
    });
    const next = (await client.refresh(tokens.refresh_token)).body as Tokens;
    for (const one of [here, there]) expect(await status(one, next.access_token)).toBe(200);
  });

  it('can be replaced often, and no more than ten are published', async () => {
    for (let i = 0; i < 12; i++) await rotate(here);
    expect(await published(here)).toHaveLength(10);
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

describe('what OAuth clients were given', () => {
  const token = 'b'.repeat(32);
  const tokens = { MCP_AGGREGATOR_TOKENS: `ops:admin:${token}` };

  it('outlives a restart on the embedded database, and is in no log or audit entry', async () => {
    const folder = await temporaryFolder();
    const settings = { ...oauthSettings, ...tokens, MCP_AGGREGATOR_LOG_LEVEL: 'trace' };
    const end = async ({ child, exited }: Awaited<ReturnType<typeof startProcess>>) => {
      child.kill('SIGTERM');
      await exited;
    };
    try {
      const first = await startProcess(folder.path, settings);
      const { client, code, tokens: given } = await connected(first, token);
      expect((await mcp(first, '/mcp', given.access_token)).status).toBe(200);
      await end(first);

      const second = await startProcess(folder.path, settings);
      expect((await mcp(second, '/mcp', given.access_token)).status).toBe(200);
      const again = client.towards(second);
      const refreshed = (await again.refresh(given.refresh_token)).body as Tokens;
      expect((await mcp(second, '/mcp', refreshed.access_token)).status).toBe(200);
      await again.redeem(`${redirectUri}?code=${code}`);
      expect((await mcp(second, '/mcp', refreshed.access_token)).status).toBe(401);
      const audit = await send(second.url, '/api/v1/aggregator/audit?limit=500', { token });
      await end(second);

      expect(audit.text).toContain('oauth.grant_withdrawn');
      const output = first.output() + second.output();
      expect(output).toContain('oauth.token_reused');
      const secrets = [code, given, refreshed].flatMap((one) =>
        typeof one === 'string' ? one : [one.access_token, one.refresh_token],
      );
      for (const secret of secrets) {
        expect(output + audit.text).not.toContain(secret);
      }
    } finally {
      await folder.remove();
    }
  });

  it('is kept as hashes and sealed, and follows the credential key when it is rotated', async () => {
    const DATABASE_URL = await createDatabase();
    const settings = { ...oauthSettings, ...tokens, DATABASE_URL };
    const keys = { old: 'the-key-before-rotation', new: 'the-key-after-rotation' };
    const before = await startApp({ ...settings, MCP_CREDENTIAL_KEY: keys.old });
    const { client, code, tokens: given } = await connected(before, token);
    await before.close();
    const database = new pg.Client(DATABASE_URL);
    await database.connect();
    const { rows } = await database.query<{ row: string }>(
      `SELECT row_to_json(r)::text AS row FROM mcp.oauth_records AS r
       UNION ALL SELECT row_to_json(k)::text FROM mcp.oauth_keys AS k`,
    );
    await database.end();
    const text = rows.map(({ row }) => row).join();
    for (const secret of [code, given.refresh_token, client.shape.clientId, '"d":']) {
      expect(text).not.toContain(secret);
    }

    const both = { MCP_CREDENTIAL_KEY: keys.new, MCP_CREDENTIAL_KEY_PREVIOUS: keys.old };
    const between = await startApp({ ...settings, ...both });
    await between.app.get(CommandBus).execute(new RotateCredentials(SYSTEM));
    await between.close();

    const after = await startApp({ ...settings, MCP_CREDENTIAL_KEY: keys.new });
    try {
      expect((await mcp(after, '/mcp', given.access_token)).status).toBe(200);
      const again = new TestClient(after, client.shape);
      expect((await again.refresh(given.refresh_token)).status).toBe(200);
    } finally {
      await after.close();
    }
  });
});
