import { randomBytes } from 'node:crypto';
import { ROOT, startWatched } from '../support/canaries.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { LOGIN_CLIENT, TestIdentityProvider } from '../support/identity-provider.js';
import { TestIssuer } from '../support/issuer.js';
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
import { type HttpPeer, httpPeer } from '../support/peers.js';
import { TokenExchange } from '../support/token-exchange.js';

const redirectUri = 'https://claude.ai/api/mcp/auth_callback';
const ours = { origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' };
const PASSWORD = 'correct horse battery 93jf84hq';
const NAME = 'ada-of-the-canaries';

type Watched = Awaited<ReturnType<typeof startWatched>>;

/** What is searched has what it should have: a place without anything would pass. */
async function expectNoLeaks(watched: Watched, marks: Readonly<Record<string, string>>) {
  const places = await watched.said();
  for (const [place, mark] of Object.entries(marks)) {
    const isSearched = places[place]?.some((text) => text.includes(mark)) ?? true;
    expect({ place, mark, isSearched }).toEqual({ place, mark, isSearched: true });
  }
  expect(await watched.leaks()).toEqual([]);
}

describe.each(['PGlite', 'PostgreSQL'] as const)('the secrets of OAuth, on %s', (engine) => {
  it('of clients, people and logins are in no log, event, trace, metric, audit row, error, address or plain column', async () => {
    const provider = await TestIdentityProvider.start();
    const watched = await startWatched(engine, {
      ...oauthSettings,
      ...provider.settings,
      MCP_AGGREGATOR_LOGIN_ROLES: 'group:callers=caller',
    });
    const { service, hide, answers, addresses } = watched;
    hide('the secret of the client at the provider', LOGIN_CLIENT.secret);
    hide('the same in a header', encodeURIComponent(LOGIN_CLIENT.secret));
    hide('the password', PASSWORD);
    const admin = (path: string, body: object = {}) =>
      send(service.url, `/api/v1/aggregator${path}`, {
        method: 'POST',
        token: ROOT,
        body: JSON.stringify(body),
      });
    const textIn = (body: unknown, name: string): string =>
      String((body as Record<string, unknown>)[name]);
    const redeemed = (what: string, { status, body, text }: Awaited<ReturnType<typeof form>>) => {
      expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
      const tokens = body as Tokens;
      hide(`the access token ${what}`, tokens.access_token);
      hide(`the signature of the access token ${what}`, tokens.access_token.split('.')[2]);
      hide(`the refresh token ${what}`, tokens.refresh_token);
      return tokens;
    };
    const registration = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
    const registered = await at(service, '/register', { method: 'POST', body: registration });
    const clientId = textIn(registered.body, 'client_id');
    /** A browser that has allowed the client, and the answer that it brings. */
    const allowed = async (logIn: (browser: TestBrowser) => Promise<unknown>) => {
      const verifier = hide('a PKCE verifier', randomBytes(32).toString('base64url'));
      const shape = { clientId, redirectUri, resource: `${PUBLIC_URL}/mcp` };
      const client = new TestClient(service, shape, verifier);
      const browser = new TestBrowser(service);
      await browser.open(client.authorizeUrl());
      await logIn(browser);
      answers.push(browser.page);
      const back = (await browser.allow()) ?? '';
      hide('a code', new URL(back).searchParams.get('code') ?? undefined);
      for (const cookie of browser.secrets) hide('a cookie', cookie);
      addresses.push(...browser.opened);
      return { client, browser, back };
    };
    try {
      const { body: token } = await admin('/tokens', { name: NAME, role: 'caller' });
      hide('the token of a person', textIn(token, 'token'));
      const invited = await admin(`/tokens/${textIn(token, 'id')}/invitations`);
      const [, code = ''] = textIn(invited.body, 'url').split('#');
      hide('the code of an invitation', code);
      answers.push(
        (await form(service, '/oauth/password', { code, password: 'short' }, ours)).text,
      );
      const chosen = await form(service, '/oauth/password', { code, password: PASSWORD }, ours);
      expect(chosen.status).toBe(200);
      const link = textIn((await admin('/login-links')).body, 'url');
      hide('the code of a login link', link.split('#')[1]);

      const first = await allowed(async (browser) => {
        await browser.submit('login', { name: NAME, password: `${PASSWORD}, wrong` }, ours);
        answers.push(browser.page);
        await browser.submit('login', { name: NAME, password: PASSWORD }, ours);
      });
      const wrong = await first.client.redeem(first.back, { code_verifier: 'A'.repeat(43) });
      expect(wrong.status).toBe(400);
      answers.push(wrong.text);
      const second = await allowed((browser) => browser.logIn(link));
      const tokens = redeemed('of a code', await second.client.redeem(second.back));
      expect((await mcp(service, '/mcp', tokens.access_token, 'tools/call')).status).toBe(200);
      const elsewhere = await mcp(service, '/mcp/search', tokens.access_token);
      expect(elsewhere.status).toBe(401);
      const changed = await mcp(service, '/mcp', tokens.access_token.slice(0, -8));
      answers.push(elsewhere.text, JSON.stringify(elsewhere.headers), changed.text);
      const next = redeemed('of a refresh', await second.client.refresh(tokens.refresh_token));
      const foreign = await second.client.refresh(next.refresh_token, { resource: PUBLIC_URL });
      const other = await second.client.refresh(next.refresh_token, { client_id: 'another' });
      const again = await second.client.redeem(second.back);
      const ended = await second.client.refresh(next.refresh_token);
      for (const { status, text } of [foreign, other, again, ended]) {
        expect(status).toBeGreaterThanOrEqual(400);
        answers.push(text);
      }

      const third = await allowed(async (browser) => {
        const [, start = ''] = /href="(\/login\/start[^"]+)"/.exec(browser.page) ?? [];
        const back = provider.answerTo((await browser.visit(start)) ?? '');
        for (const cookie of browser.secrets) hide('the cookie of a login', cookie);
        await browser.open(back);
        const query = new URL(back).searchParams;
        // Used up, and told to a page that anyone can read.
        await browser.open(back);
        answers.push(browser.page);
        hide('the state of a login', query.get('state') ?? undefined);
        await browser.visit(start.replace(/^.*to=/, '').replaceAll('%2F', '/'));
      });
      const last = redeemed('of the provider', await third.client.redeem(third.back));
      const revoked = await form(service, '/revoke', {
        token: last.refresh_token,
        client_id: clientId,
      });
      answers.push(revoked.text);
      expect((await mcp(service, '/mcp', last.access_token)).status).toBe(401);
      for (const path of ['tokens', 'people', 'servers', 'clients']) {
        await watched.ask(`/api/v1/aggregator/${path}`);
      }
      await watched.ask('/api/v1/oauth/grants');
      // Addresses of the provider's own answer have its code and state, which count once and in one browser.
      const own = addresses.filter((one) => !one.startsWith('/login/callback'));
      addresses.splice(0, addresses.length, ...own);
      await expectNoLeaks(watched, {
        answers: NAME,
        addresses: '/oauth/consent/',
        log: 'oauth',
        events: NAME,
        traces: '/token',
        backup: NAME,
        rows: NAME,
      });
    } finally {
      await watched.stop();
      provider.stop();
    }
  });

  it('of exchanges are in none of these either', async () => {
    const [issuer, exchange] = [await TestIssuer.start(), await TokenExchange.start()];
    const peer: HttpPeer = await httpPeer('whose.mjs', ['http']);
    const watched = await startWatched(engine, issuer.settings);
    const { hide, ask } = watched;
    const secret = hide('the secret of the client', 'secret-of-the-client-93jf84hq');
    hide('the same in a header', Buffer.from(`switchboard:${secret}`).toString('base64'));
    for (let n = 1; n < 20; n += 1) hide('an exchanged token', TokenExchange.tokenOf(NAME, n));
    try {
      const registered = await ask('/api/v1/aggregator/servers', {
        method: 'POST',
        body: JSON.stringify({
          name: 'upstream',
          transport_type: 'HTTP',
          credentials: 'exchange',
          connection_config: {
            base_url: peer.url,
            exchange: {
              token_url: exchange.url,
              client_id: 'switchboard',
              client_secret: secret,
              audience: 'https://upstream.example.com',
            },
          },
        }),
      });
      const { id } = registered.body as { id: string };
      const token = hide('the token of a caller', await issuer.sign({ sub: NAME }));
      hide('the signature of that token', token.split('.')[2]);
      const call = () =>
        ask('/api/v1/tools/call', {
          method: 'POST',
          token,
          body: JSON.stringify({ name: 'whose', server_id: id, arguments: {} }),
        });
      // Each token ends at once, so that each call exchanges again.
      exchange.lifetime = 1;
      await eventually(async () => expect((await call()).status).toBe(200));
      exchange.refusal = {
        error: `refused-${secret}-${token}`,
        error_description: `${TokenExchange.tokenOf(NAME, 1)} ${exchange.clients.at(-1)}`,
      };
      await eventually(async () => expect((await call()).status).toBe(409));
      for (const part of ['', '/history', '/logs', '/health', '/tools', '/connections']) {
        await ask(`/api/v1/aggregator/servers/${id}${part}`);
      }
      await expectNoLeaks(watched, {
        answers: 'upstream',
        log: 'upstream',
        events: NAME,
        traces: 'upstream',
        backup: 'upstream',
        rows: 'upstream',
      });
    } finally {
      await watched.stop();
      exchange.stop();
      issuer.stop();
      await peer.stop();
    }
  });
});
