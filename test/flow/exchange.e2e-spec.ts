import { createHash } from 'node:crypto';
import { CallerTokens, subjectIn } from '@app/access';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { startBalanced } from '../support/balanced.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { TestIdentityProvider } from '../support/identity-provider.js';
import { TestIssuer } from '../support/issuer.js';
import {
  at,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';
import { TokenExchange } from '../support/token-exchange.js';

const CALLER = 'token-of-a-caller-0123456789';
const ROOT = 'token-of-root-0123456789';

const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

describe('a server that takes tokens exchanged for the JWT of the caller', () => {
  let issuer: TestIssuer;
  let exchange: TokenExchange;
  let peer: HttpPeer;
  let service: TestApp;
  let id: string;
  let count = 0;

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    peer = await httpPeer('whose.mjs', ['http']);
    service = await startApp({
      MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT},caller:call:${CALLER}`,
      ...issuer.settings,
    });
  });
  beforeEach(async () => {
    exchange = await TokenExchange.start();
    const api = new Api({ url: service.url, token: ROOT });
    id = await api.register({
      name: `upstream${count++}`,
      transport_type: 'HTTP',
      credentials: 'exchange',
      connection_config: {
        base_url: peer.url,
        exchange: {
          token_url: exchange.url,
          client_id: 'switchboard',
          client_secret: 'secret-of-the-client-93jf8',
          audience: 'https://upstream.example.com',
          scope: 'tools',
        },
      },
    });
    await eventually(async () => {
      const { body } = await api.call('GET', `/servers/${id}`);
      expect(body).toMatchObject({ status: 'CONNECTED', tool_count: 2 });
    });
  });
  afterEach(async () => {
    await new Api({ url: service.url, token: ROOT }).call('DELETE', `/servers/${id}`);
    exchange.stop();
  });
  afterAll(async () => {
    await service.close();
    await peer.stop();
    issuer.stop();
  });

  const call = (token: string) =>
    send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token,
      body: JSON.stringify({ name: 'whose', server_id: id, arguments: {} }),
    });
  const whose = async (token: string): Promise<string> => {
    const { status, text, body } = await call(token);
    if (status !== 200) throw new Error(text);
    const { content } = body as { content: [{ text: string }] };
    return (JSON.parse(content[0].text) as { whose: string }).whose;
  };

  it('is called with the token of the person, got once as RFC 8693 says', async () => {
    const [ada, bob] = [await issuer.sign({ sub: 'ada' }), await issuer.sign({ sub: 'bob' })];
    expect(await whose(ada)).toBe(digest(TokenExchange.tokenOf('ada', 1)));
    expect(await whose(bob)).toBe(digest(TokenExchange.tokenOf('bob', 2)));
    expect(await whose(ada)).toBe(digest(TokenExchange.tokenOf('ada', 1)));
    expect(Object.fromEntries(exchange.forms[0] ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: ada,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'https://upstream.example.com',
      scope: 'tools',
    });
    const client = Buffer.from('switchboard:secret-of-the-client-93jf8').toString('base64');
    expect(exchange.clients).toEqual([`Basic ${client}`, `Basic ${client}`]);
  });

  it('shares one exchange between calls of one person at the same time', async () => {
    const ada = await issuer.sign({ sub: 'ada' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => whose(ada)));
    expect(new Set(answers)).toEqual(new Set([digest(TokenExchange.tokenOf('ada', 1))]));
    expect(exchange.forms).toHaveLength(1);
  });

  it('gets another token a minute before the end', async () => {
    exchange.lifetime = 59;
    const ada = await issuer.sign({ sub: 'ada' });
    await whose(ada);
    const before = exchange.forms.length;
    await call(ada);
    expect(exchange.forms.length).toBeGreaterThan(before);
  });

  it('is never sent the token of the caller itself', async () => {
    exchange.givesBackTheSame = true;
    const ada = await issuer.sign({ sub: 'ada' });
    const { status, text } = await call(ada);
    expect(status).toBe(409);
    expect(text).toContain('came back unchanged');
    expect(text).not.toContain(ada);
  });

  it('cannot be called with a token of this service, which has nothing to exchange', async () => {
    const { status, body } = await call(CALLER);
    expect({ status, body }).toMatchObject({
      status: 409,
      body: {
        detail: expect.stringContaining('call with a JWT'),
        context: { outcome: 'not executed' },
      },
    });
    expect(exchange.forms).toHaveLength(0);
  });

  it('says why an exchange was refused, without tokens', async () => {
    const ada = await issuer.sign({ sub: 'ada' });
    exchange.refusal = { error: `invalid_target ${ada}` };
    const { status, text } = await call(ada);
    expect(status).toBe(409);
    expect(text).toContain('invalid_target');
    expect(text).not.toContain(ada);
  });

  it.each([
    [{}, 'Is required with credentials: exchange'],
    [{ exchange: { token_url: 'ftp://x' } }, 'Must be a URL'],
    [
      { exchange: { token_url: 'https://x', client_secret: 's' } },
      'Is required with a client_secret',
    ],
  ])('is refused with %j', async (config, problem) => {
    const { status, body } = await new Api({ url: service.url, token: ROOT }).call(
      'POST',
      '/servers',
      {
        name: 'refused',
        transport_type: 'HTTP',
        credentials: 'exchange',
        connection_config: { base_url: peer.url, ...config },
      },
    );
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(problem);
  });

  it('shows its configuration without the secret of the client', async () => {
    const { body } = await new Api({ url: service.url, token: ROOT }).call('GET', `/servers/${id}`);
    expect(body).toMatchObject({
      credentials: 'exchange',
      connection_config: { exchange: { client_id: 'switchboard', client_secret: '********' } },
    });
  });
});

describe('a server that takes exchanged tokens, called with a token of this service', () => {
  it('is not called, and its token endpoint gets no token of this service', async () => {
    const provider = await TestIdentityProvider.start();
    const exchange = await TokenExchange.start();
    const peer = await httpPeer('whose.mjs', ['http']);
    const service = await startApp({
      ...oauthSettings,
      ...provider.settings,
      MCP_AGGREGATOR_LOGIN_ROLES: '*=caller',
      MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT}`,
      MCP_AGGREGATOR_ALLOWED_HOSTS: 'mcp.example.com,127.0.0.1',
    });
    try {
      const id = await new Api({ url: service.url, token: ROOT }).register({
        name: 'upstream',
        transport_type: 'HTTP',
        credentials: 'exchange',
        connection_config: { base_url: peer.url, exchange: { token_url: exchange.url } },
      });
      const api = new Api({ url: service.url, token: ROOT });
      await eventually(async () => {
        const { body } = await api.call('GET', `/servers/${id}`);
        expect(body).toMatchObject({ status: 'CONNECTED', tool_count: 2 });
      });

      const answer = await at(service, '/api/v1/tools/call', {
        method: 'POST',
        token: await tokenOfPerson(service, provider),
        body: JSON.stringify({ name: 'whose', server_id: id, arguments: {} }),
      });
      expect(answer.text).toContain('CONNECTION_REQUIRED');
      expect(answer.status).toBe(409);
      expect(exchange.forms).toEqual([]);
    } finally {
      await service.close();
      await peer.stop();
      exchange.stop();
      provider.stop();
    }
  });

  /** What an OAuth client gets of a person who logs in at the provider. */
  async function tokenOfPerson(service: TestApp, provider: TestIdentityProvider): Promise<string> {
    const redirectUri = 'https://claude.ai/api/mcp/auth_callback';
    const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
    const { client_id: clientId } = (await at(service, '/register', { method: 'POST', body }))
      .body as { client_id: string };
    const client = new TestClient(service, { clientId, redirectUri, resource: PUBLIC_URL });
    const browser = new TestBrowser(service);
    await browser.open(client.authorizeUrl());
    const [, link = ''] = /href="(\/login\/start[^"]+)"/.exec(browser.page) ?? [];
    await browser.open(provider.answerTo((await browser.visit(link)) ?? ''));
    const given = await client.redeem((await browser.allow()) ?? '');
    return (given.body as Tokens).access_token;
  }
});

describe('a session at another replica than the newest token of its caller was verified at', () => {
  it('calls with what that token is exchanged for', async () => {
    const [issuer, exchange] = [await TestIssuer.start(), await TokenExchange.start()];
    const peer = await httpPeer('whose.mjs', ['http']);
    const cluster = await startBalanced(2, issuer.settings);
    try {
      await cluster.register(
        {
          name: 'upstream',
          transport_type: 'HTTP',
          credentials: 'exchange',
          connection_config: { base_url: peer.url, exchange: { token_url: exchange.url } },
        },
        'upstream.whose',
      );
      const [owner, other] = cluster.replicas;
      if (!owner || !other) throw new Error('there are two replicas');
      const post = (at: TestApp, token: string, message: object, headers = {}) =>
        send(at.url, '/mcp', {
          method: 'POST',
          token,
          headers: { accept: 'application/json, text/event-stream', ...headers },
          body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        });
      const exp = Math.floor(Date.now() / 1_000) + 3;
      const clientInfo = { name: 'old', version: '1' };
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
      const first = await issuer.sign({ sub: 'ada', exp });
      const opened = await post(owner, first, { id: 1, method: 'initialize', params });
      expect(opened.status).toBe(200);
      const session = { 'mcp-session-id': opened.headers['mcp-session-id'] ?? '' };
      const kept = owner.app.get(CallerTokens);
      const subject = subjectIn('jwt', 'ada', issuer.name);
      await eventually(() => expect(kept.of(subject)).toBeUndefined());

      const second = await issuer.sign({ sub: 'ada' });
      const call = { name: 'upstream__whose', arguments: {} };
      const message = { id: 2, method: 'tools/call', params: call };
      const called = await post(other, second, message, session);
      expect({ status: called.status, text: called.text }).toMatchObject({
        status: 200,
        text: expect.stringContaining(digest(TokenExchange.tokenOf('ada', 1))),
      });
      expect(exchange.forms.map((form) => form.get('subject_token'))).toEqual([second]);

      // Only a replica can have sealed it.
      const forged = { ...session, 'x-switchboard-caller-token': 'A'.repeat(200) };
      expect((await post(owner, second, { id: 3, method: 'ping' }, forged)).status).toBe(200);
      expect((await post(other, second, { id: 4, method: 'ping' }, forged)).status).toBe(200);
      expect(kept.of(subject)).toBe(second);
    } finally {
      await cluster.close();
      exchange.stop();
      issuer.stop();
      await peer.stop();
    }
  });
});
