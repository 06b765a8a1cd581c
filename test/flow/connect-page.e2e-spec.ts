import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { GuardedServer } from '../support/guarded-server.js';
import { type Answer, send } from '../support/http.js';
import { type HttpPeer, httpPeer } from '../support/peers.js';

const ROOT = 'token-of-root-0123456789';
const people = { ada: 'token-of-ada-0123456789', bob: 'token-of-bob-0123456789' } as const;
type Name = keyof typeof people;

/** A browser: keeps cookies, and sends what browsers send with requests of a page. */
class Browser {
  private readonly cookies = new Map<string, string>();

  constructor(private readonly url: string) {}

  async logIn(token: string): Promise<Answer> {
    return this.ask('POST', '/console/session', { token });
  }

  async ask(method: string, path: string, body?: object, site = 'same-origin'): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(this.url, path, {
      method,
      headers: {
        'sec-fetch-site': site,
        ...(site === 'same-origin' && { 'x-requested-with': 'switchboard-console' }),
        ...(cookie !== '' && { cookie }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(answer.headers['set-cookie'] ?? '') ?? [];
    if (name !== undefined && value !== undefined) this.cookies.set(name, value);
    return answer;
  }

  /** The redirect of a provider, another site. */
  return(address: string): Promise<Answer> {
    return this.ask('GET', pathOf(address), undefined, 'cross-site');
  }
}

function pathOf(address: string): string {
  return address.slice(new URL(address).origin.length);
}

/** What a person does with the address of a page: logs in, and consents at the provider. */
async function consentAt(url: string, browser: Browser): Promise<Answer> {
  const path = pathOf(url);
  const started = await browser.ask('POST', `${path}/consent`, {});
  if (started.status !== 200) return started;
  const { authorization_url } = started.body as { authorization_url: string };
  const { headers } = await send(authorization_url, pathOf(authorization_url));
  return browser.return(headers['location'] ?? '');
}

interface AnyClient {
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}
type OnUrl = (url: string) => Promise<'accept' | 'decline'>;

const withToken = (token: string): object => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

async function legacyClient(url: URL, token: string, onUrl?: OnUrl): Promise<AnyClient> {
  const capabilities = { elicitation: onUrl ? { url: {} } : {} };
  const client = new LegacySdk({ name: 'old', version: '1' }, { capabilities });
  if (onUrl) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      action: await onUrl('url' in params ? params.url : ''),
    }));
  }
  const transport = new LegacyTransport(url, withToken(token)) as Parameters<
    LegacySdk['connect']
  >[0];
  await client.connect(transport);
  return {
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

async function modernClient(url: URL, token: string, onUrl?: OnUrl): Promise<AnyClient> {
  const client = new ModernSdk(
    { name: 'new', version: '1' },
    {
      capabilities: onUrl ? { elicitation: { url: {} } } : {},
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  if (onUrl) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: await onUrl('url' in params ? params.url : ''),
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(url, withToken(token)));
  return {
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}

const clients = { legacy: legacyClient, modern: modernClient } as const;

describe.each([
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
] as const)(
  'a person with a %s client, before a %s server with logins of each person',
  (clientEra, serverEra) => {
    let peer: HttpPeer;
    let guarded: GuardedServer;
    let service: TestApp;
    let id: string;
    let admin: Api;
    const open: AnyClient[] = [];

    beforeAll(async () => {
      peer = await (serverEra === 'legacy'
        ? httpPeer('peer-v1.mjs', ['http'])
        : httpPeer('peer-v2.mjs', ['http', 'modern']));
      guarded = await GuardedServer.before(peer);
      const tokens = Object.entries(people).map(([name, token]) => `${name}:call:${token}`);
      service = await startApp({
        MCP_AGGREGATOR_TOKENS: [`root:admin:${ROOT}`, ...tokens].join(),
      });
      admin = new Api({ url: service.url, token: ROOT });
      id = await admin.register({
        name: 'peer',
        transport_type: 'HTTP',
        credentials: 'per_user',
        connection_config: { base_url: guarded.url },
      });
      const url = await eventually(async () => {
        const { body } = await admin.call('GET', `/servers/${id}`);
        const { url } = body['authorization'] as { url: string | null };
        expect(url).not.toBeNull();
        return url ?? '';
      });
      const { headers } = await send(url, pathOf(url));
      await send(service.url, pathOf(headers['location'] ?? ''));
      await eventually(async () => {
        const { body } = await admin.call('GET', `/servers/${id}`);
        expect(body).toMatchObject({ status: 'CONNECTED', protocol_era: serverEra });
        expect(body['tool_count']).not.toBe(0);
      });
    });
    afterEach(async () => {
      await Promise.all(open.splice(0).map((client) => client.close()));
      for (const name of ['ada', 'bob'] as const) {
        await send(service.url, `/api/v1/me/connections/${id}`, {
          method: 'DELETE',
          token: people[name],
        });
      }
    });
    afterAll(async () => {
      await service.close();
      guarded.stop();
      await peer.stop();
    });

    const client = async (name: Name, onUrl?: OnUrl): Promise<AnyClient> => {
      const made = await clients[clientEra](new URL('/mcp', service.url), people[name], onUrl);
      open.push(made);
      return made;
    };
    const browserOf = async (name: Name): Promise<Browser> => {
      const browser = new Browser(service.url);
      expect((await browser.logIn(people[name])).status).toBe(200);
      return browser;
    };
    const echo = (made: AnyClient) => made.call('peer__echo', { text: 'hello' });
    const refusedUrl = async (name: Name): Promise<string> => {
      const answer = (await echo(await client(name))) as { content: [{ text: string }] };
      expect(answer).toMatchObject({ isError: true });
      const [{ text }] = answer.content;
      expect(text).toContain('The tool was not executed');
      return /http:\S+\/connect\/\S+/.exec(text)?.[0] ?? '';
    };

    it('is asked to open a page, and the same call succeeds after the consent', async () => {
      const browser = await browserOf('ada');
      const pages: Answer[] = [];
      const made = await client('ada', async (url) => {
        pages.push(await consentAt(url, browser));
        return 'accept';
      });
      expect(await echo(made)).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
      expect(pages.map(({ status, text }) => [status, text.includes('Connected: peer')])).toEqual([
        [200, true],
      ]);
      expect(await echo(made)).toMatchObject({ content: [{ text: 'hello' }] });
    });

    it('gets the address in the error where the client cannot ask, or its person declines', async () => {
      expect(await refusedUrl('ada')).toContain('/connect/peer/');
      const declining = await client('ada', () => Promise.resolve('decline'));
      expect(await echo(declining)).toMatchObject({ isError: true });
    });

    it('opens an address that is good for no other person, and once', async () => {
      const url = await refusedUrl('ada');
      const [ada, bob] = [await browserOf('ada'), await browserOf('bob')];
      expect((await bob.ask('GET', `${pathOf(url)}/state`)).status).toBe(404);
      expect((await consentAt(url, bob)).status).toBe(404);
      expect((await new Browser(service.url).ask('GET', `${pathOf(url)}/state`)).status).toBe(401);
      expect((await ada.ask('GET', `${pathOf(url)}/state`)).body).toEqual({
        server: 'peer',
        person: 'ada',
        fields: [],
      });
      expect((await consentAt(url, ada)).status).toBe(200);
      expect((await consentAt(url, ada)).status).toBe(404);
      expect(await echo(await client('bob'))).toMatchObject({ isError: true });
      expect(await echo(await client('ada'))).toMatchObject({ content: [{ text: 'hello' }] });
    });

    it('is not given the account of a person who was led to the provider', async () => {
      const [ada, victim] = [await browserOf('ada'), await browserOf('bob')];
      const url = await refusedUrl('ada');
      const started = await ada.ask('POST', `${pathOf(url)}/consent`, {});
      const { authorization_url } = started.body as { authorization_url: string };
      const { headers } = await send(authorization_url, pathOf(authorization_url));
      expect((await victim.return(headers['location'] ?? '')).status).toBe(400);
      expect(await echo(await client('ada'))).toMatchObject({ isError: true });
    });

    it('keeps a token that is renewed once, however many calls find it expired', async () => {
      const url = await refusedUrl('ada');
      await consentAt(url, await browserOf('ada'));
      const made = await client('ada');
      await echo(made);
      guarded.expireAll();
      const before = guarded.countOf('POST /token refresh_token');
      const answers = await Promise.all(Array.from({ length: 8 }, () => echo(made)));
      for (const answer of answers) expect(answer).toMatchObject({ content: [{ text: 'hello' }] });
      expect(guarded.countOf('POST /token refresh_token')).toBe(before + 1);
    });

    it('waits for the end of a login that replaces a withdrawn token', async () => {
      const browser = await browserOf('ada');
      await consentAt(await refusedUrl('ada'), browser);
      expect(await echo(await client('ada'))).toMatchObject({ content: [{ text: 'hello' }] });
      guarded.revokeAll();
      let provider = '';
      const made = await client('ada', async (url) => {
        const { body } = await browser.ask('POST', `${pathOf(url)}/consent`, {});
        provider = (body as { authorization_url: string }).authorization_url;
        return 'accept';
      });
      const answer = echo(made);
      await eventually(async () => expect(provider).not.toBe(''));
      const { headers } = await send(provider, pathOf(provider));
      expect((await browser.return(headers['location'] ?? '')).status).toBe(200);
      expect(await answer).toMatchObject({ content: [{ text: 'hello' }] });
    });

    it('is asked again after the provider has withdrawn the token', async () => {
      await consentAt(await refusedUrl('ada'), await browserOf('ada'));
      expect(await echo(await client('ada'))).toMatchObject({ content: [{ text: 'hello' }] });
      guarded.revokeAll();
      const again = await refusedUrl('ada');
      expect((await consentAt(again, await browserOf('ada'))).status).toBe(200);
      expect(await echo(await client('ada'))).toMatchObject({ content: [{ text: 'hello' }] });
    });
  },
);
