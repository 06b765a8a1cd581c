import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { GuardedServer } from '../support/guarded-server.js';
import { type Answer, send } from '../support/http.js';
import { TestIdentityProvider } from '../support/identity-provider.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';

const BASE = 'https://gw.example.com/hub';
const ROOT = 'token-of-root-0123456789';
const ADA = 'token-of-ada-0123456789';

/** A browser at the public address, whose path a proxy removes. Cookies count below their path. */
class PublicBrowser {
  private readonly cookies = new Map<string, { value: string; path: string }>();

  constructor(private readonly service: TestApp) {}

  async ask(method: string, address: string, body?: object): Promise<Answer> {
    const url = new URL(address, `${BASE}/`);
    expect(url.href).toMatch(/^https:\/\/gw\.example\.com\/hub\//);
    const cookie = [...this.cookies]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`);
    const answer = await send(this.service.url, url.pathname.slice(4) + url.search, {
      method,
      headers: {
        host: url.host,
        'sec-fetch-site': 'same-origin',
        'x-requested-with': 'switchboard-console',
        ...(cookie.length > 0 && { cookie: cookie.join('; ') }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    for (const set of (answer.headers['set-cookie'] ?? '').split(/,(?=\s*[\w-]+=)/)) {
      const [, name, value] = /^\s*([\w-]+)=([^;]*)/.exec(set) ?? [];
      const [, path = '/'] = /Path=([^;]+)/.exec(set) ?? [];
      if (name !== undefined && value !== undefined) this.cookies.set(name, { value, path });
    }
    return answer;
  }
}

describe('a service whose public address has a path', () => {
  let peer: HttpPeer;
  let guarded: GuardedServer;
  let provider: TestIdentityProvider;
  let service: TestApp;

  beforeAll(async () => {
    peer = await httpPeer('peer-v2.mjs', ['http', 'auto']);
    guarded = await GuardedServer.before(peer);
    provider = await TestIdentityProvider.start();
    service = await startApp({
      ...provider.settings,
      MCP_AGGREGATOR_PUBLIC_URL: BASE,
      MCP_AGGREGATOR_ALLOWED_HOSTS: 'gw.example.com',
      MCP_AGGREGATOR_TOKENS: `root:admin:${ROOT},ada:call:${ADA}`,
      MCP_AGGREGATOR_LOGIN_ROLES: '*=caller',
    });
  });
  afterAll(async () => {
    await service.close();
    provider.stop();
    guarded.stop();
    await peer.stop();
  });

  it('sends browsers back below it, for the login at a server and for that of a person', async () => {
    const api = new Api({ url: service.url, token: ROOT });
    const id = await api.register({
      name: 'peer',
      transport_type: 'HTTP',
      credentials: 'per_user',
      connection_config: { base_url: guarded.url },
    });
    const question = await eventually(async () => {
      const { body } = await api.call('GET', `/servers/${id}`);
      const { url } = body['authorization'] as { url: string | null };
      expect(url).not.toBeNull();
      return url ?? '';
    });
    const consent = async (url: string): Promise<string> => {
      const { origin } = new URL(url);
      return (await send(url, url.slice(origin.length))).headers['location'] ?? '';
    };
    const admin = new PublicBrowser(service);
    const back = await consent(question);
    expect(back).toContain(`${BASE}/oauth/callback?`);
    expect((await admin.ask('GET', back)).text).toContain('Authorized: peer');

    const body = JSON.stringify({ name: 'peer.echo', arguments: { text: 'hello' } });
    const call = () =>
      send(service.url, '/api/v1/tools/call', { method: 'POST', token: ADA, body });
    const link = await eventually(async () => {
      const answer = await call();
      expect(answer.body).toMatchObject({ error_code: 'CONNECTION_REQUIRED' });
      return (answer.body as { context: { connect_url: string } }).context.connect_url;
    });
    expect(link).toContain(`${BASE}/connect/peer/`);
    const browser = new PublicBrowser(service);
    const page = await browser.ask('GET', link);
    for (const [, path = ''] of page.text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      expect((await browser.ask('GET', new URL(path, link).href)).status).toBe(200);
    }
    await browser.ask('POST', `${BASE}/console/session`, { token: ADA });
    const started = await browser.ask('POST', `${link}/consent`, {});
    const { authorization_url: url } = started.body as { authorization_url: string };
    expect((await browser.ask('GET', await consent(url))).text).toContain('Connected: peer');
    await eventually(async () => expect((await call()).status).toBe(200));
  });

  it('leads a person who logged in at the identity provider to pages below it', async () => {
    const browser = new PublicBrowser(service);
    const started = await browser.ask('GET', `${BASE}/login/start?to=/connect/peer/abc`);
    const back = provider.answerTo(started.headers['location'] ?? '');
    expect(back).toContain(`${BASE}/login/callback?`);
    const answer = await browser.ask('GET', back);
    expect(answer.text).toContain(`content="0;url=${BASE}/connect/peer/abc"`);
    const session = await browser.ask('GET', `${BASE}/console/session`);
    expect(session.body).toMatchObject({ scopes: ['read', 'call'] });
  });
});
