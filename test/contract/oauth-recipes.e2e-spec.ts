import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { commandLine } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { TestIdentityProvider } from '../support/identity-provider.js';
import { TestIssuer } from '../support/issuer.js';
import {
  at,
  form,
  mcp,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';

const text = readFileSync('docs/oauth.md', 'utf8');

/** The first block under a heading. */
function blockUnder(heading: string): string {
  const [, section = ''] = text.split(`## ${heading}\n`);
  const [, block = ''] = /```sh\n([^]*?)```/.exec(section) ?? [];
  return block;
}

function settingsUnder(heading: string): Record<string, string> {
  const pairs = [...blockUnder(heading).matchAll(/\b([A-Z_]+)=(\S+)/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]));
}

/** A client at the public address that has registered, and what a person sees who opens its request. */
async function askingClient(service: TestApp) {
  const redirectUri = 'https://claude.ai/api/mcp/auth_callback';
  const body = JSON.stringify({ client_name: 'Claude', redirect_uris: [redirectUri] });
  const registered = await at(service, '/register', { method: 'POST', body });
  const { client_id: clientId } = registered.body as { client_id: string };
  const resource = `${PUBLIC_URL}/mcp`;
  const client = new TestClient(service, { clientId, redirectUri, resource });
  const browser = new TestBrowser(service);
  await browser.open(client.authorizeUrl());
  const tokens = async (): Promise<Tokens> => {
    const answer = await client.redeem((await browser.allow()) ?? '');
    expect(answer).toMatchObject({ status: 200 });
    return answer.body as Tokens;
  };
  return { browser, tokens };
}

/** A stateless MCP request at the address that the service listens at. */
function ask(
  url: string,
  endpoint: string,
  token: string,
  method: 'tools/list' | 'tools/call' = 'tools/list',
): Promise<Answer> {
  const isCall = method === 'tools/call';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = isCall ? { name: 'query', arguments: { question: 'x' }, _meta } : { _meta };
  return send(url, endpoint, {
    method: 'POST',
    token,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(isCall && { 'mcp-name': 'query' }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

describe('the recipes of docs/oauth.md', () => {
  it('on a laptop: a client at its address logs in with a link, and calls', async () => {
    const settings = settingsUnder('On a laptop');
    const address = settings['MCP_AGGREGATOR_PUBLIC_URL'] ?? '';
    const { host } = new URL(address);
    const service = await startApp(settings);
    const cookies = new Map<string, string>();
    const open = async (path: string, form?: Record<string, string>): Promise<Answer> => {
      const answer = await send(service.url, path, {
        method: form ? 'POST' : 'GET',
        headers: {
          host,
          'sec-fetch-site': 'same-origin',
          cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
          ...(form && { origin: address, 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(form && { body: new URLSearchParams(form).toString() }),
      });
      for (const set of (answer.headers['set-cookie'] ?? '').split(/,(?=\s*[\w-]+=)/)) {
        const [, name, value] = /^\s*([\w-]+)=([^;]*)/.exec(set) ?? [];
        if (name !== undefined && value !== undefined) cookies.set(name, value);
      }
      return answer;
    };
    const nextOf = ({ headers, text: page }: Answer): string => {
      const refresh = /content="0;url=([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
      const url = new URL(headers['location'] ?? refresh ?? '', address);
      return url.origin === address ? url.pathname + url.search : url.href;
    };
    try {
      const redirectUri = 'http://127.0.0.1:43210/callback';
      const registered = await send(service.url, '/register', {
        method: 'POST',
        headers: { host },
        body: JSON.stringify({ client_name: 'Claude Code', redirect_uris: [redirectUri] }),
      });
      const { client_id: clientId } = registered.body as { client_id: string };
      const verifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        resource: `${address}/mcp`,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      const path = nextOf(await open(`/authorize?${query.toString()}`));
      await open(`${path}/ask`);
      const { stdout } = await commandLine({ url: service.url, token: service.token }).run('login');
      const link = /http\S+\/console\/login#\S+/.exec(stdout)?.[0] ?? '';
      expect(link).toContain(`${address}/console/login#`);
      const question = await open(nextOf(await open(`${path}/login`, { credential: link })));
      const shown = /name="shown" value="(\w+)"/.exec(question.text)?.[1] ?? '';
      const allowed = await open(`${path}/decide`, { decision: 'allow', shown });
      const back = nextOf(await open(nextOf(allowed)));
      expect(back).toContain(`${redirectUri}?`);
      const answer = await open('/token', {
        grant_type: 'authorization_code',
        code: new URL(back).searchParams.get('code') ?? '',
        client_id: clientId,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        resource: `${address}/mcp`,
      });
      const { access_token: token } = answer.body as Tokens;
      expect((await ask(service.url, '/mcp', token, 'tools/call')).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  it('for hosted clients: authorization is on by itself behind a proxy that ends TLS', async () => {
    const settings = settingsUnder('For hosted clients');
    expect(settings).not.toHaveProperty('MCP_AGGREGATOR_OAUTH');
    expect(settings['MCP_AGGREGATOR_PUBLIC_URL']).toBe(PUBLIC_URL);
    const service = await startApp(settings);
    try {
      const { browser, tokens } = await askingClient(service);
      await browser.logIn(service.token);
      const { access_token: token } = await tokens();
      expect((await mcp(service, '/mcp', token, 'tools/call')).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  it('for a team: people choose a password, and their clients have their role and view', async () => {
    const service = await startApp(settingsUnder('For hosted clients'));
    try {
      const admin = new Api(service);
      const view = { slug: 'support', rules: [] };
      expect(await admin.call('POST', '/views', view)).toMatchObject({ status: 201 });
      const { run } = commandLine(service);
      const invitations: string[] = [];
      for (const line of blockUnder('For a team').trim().split('\n')) {
        const [program, ...words] = line.split(' ');
        expect(program).toBe('switchboard');
        const { code, stdout, stderr } = await run(...words);
        expect({ line, code, stderr }).toMatchObject({ code: 0 });
        const [link] = /https:\S+\/oauth\/password#\S+/.exec(stdout) ?? [];
        if (link !== undefined) invitations.push(link);
      }
      expect(invitations).toHaveLength(2);
      const tokenOf = async (name: string, invitation: string): Promise<string> => {
        const password = `correct horse of ${name}`;
        const ours = { origin: PUBLIC_URL, 'sec-fetch-site': 'same-origin' };
        const [page = '', code = ''] = invitation.split('#');
        const chosen = await form(service, new URL(page).pathname, { code, password }, ours);
        expect(chosen.status).toBe(200);
        const { browser, tokens } = await askingClient(service);
        await browser.submit('login', { name, password });
        expect(browser.page).toContain(`<b>${name}</b>`);
        return (await tokens()).access_token;
      };
      const [ada, bo] = [
        await tokenOf('ada', invitations[0] ?? ''),
        await tokenOf('bo', invitations[1] ?? ''),
      ];
      expect((await mcp(service, '/mcp', ada, 'tools/call')).status).toBe(200);
      expect((await mcp(service, '/mcp', bo)).status).toBe(200);
      expect((await mcp(service, '/mcp', bo, 'tools/call')).status).toBe(403);
      expect((await run('tokens', 'revoke', 'ada')).code).toBe(0);
      await eventually(async () =>
        expect((await mcp(service, '/mcp', ada, 'tools/call')).status).toBe(401),
      );
      expect((await mcp(service, '/mcp', bo)).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  it('people at an identity provider: logins with the roles that its settings say, and their end', async () => {
    const provider = await TestIdentityProvider.start();
    const settings = settingsUnder('People at an identity provider');
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(provider.settings)));
    const service = await startApp({
      ...settingsUnder('For hosted clients'),
      ...settings,
      ...provider.settings,
    });
    try {
      const logIn = async (sub: string, claims: object): Promise<TestBrowser> => {
        provider.claims = { sub, groups: [], ...claims };
        const browser = new TestBrowser(service);
        await browser.open(provider.answerTo((await browser.visit('/login/start')) ?? ''));
        return browser;
      };
      const scopesOf = async (browser: TestBrowser) =>
        ((await browser.read('/console/session')).body as { scopes?: string[] } | undefined)
          ?.scopes;
      const ops = await logIn('ada', { realm_access: { roles: ['offline_access', 'mcp-admins'] } });
      expect(await scopesOf(ops)).toContain('admin');
      expect(await scopesOf(await logIn('bo', { groups: ['developers'] }))).toEqual([
        'read',
        'call',
      ]);
      // A group is no role, and a role no group.
      expect(await scopesOf(await logIn('cy', { groups: ['mcp-admins'] }))).toEqual(['read']);
      expect(
        await scopesOf(await logIn('di', { realm_access: { roles: ['developers'] } })),
      ).toEqual(['read']);

      const { run, json } = commandLine(service);
      const { people } = (await json('people', 'list')) as {
        people: { id: string; subject: string }[];
      };
      expect(people.map(({ subject }) => subject).toSorted()).toEqual(['ada', 'bo', 'cy', 'di']);
      const id = people.find(({ subject }) => subject === 'ada')?.id ?? '';
      expect((await run('people', 'end', id)).code).toBe(0);
      await eventually(async () => expect(await scopesOf(ops)).toBeUndefined());
    } finally {
      await service.close();
      provider.stop();
    }
  });

  it('with an identity provider: tokens as Keycloak writes them, by their audience and role', async () => {
    const { MCP_AGGREGATOR_JWKS_URL: keys = '', ...settings } = settingsUnder(
      'With an identity provider',
    );
    const realm = settings['MCP_AGGREGATOR_JWT_ISSUER'] ?? '';
    expect(keys).toBe(`${realm}/protocol/openid-connect/certs`);
    const issuer = await TestIssuer.start();
    const service = await startApp({ ...issuer.settings, ...settings });
    try {
      const resource = await at(service, '/.well-known/oauth-protected-resource/mcp', {
        headers: { host: new URL(service.url).host },
      });
      expect(resource.body).toMatchObject({
        resource: `${PUBLIC_URL}/mcp`,
        authorization_servers: [realm],
      });
      const statusOf = async (claims: object, endpoint = '/mcp', asked?: 'tools/call') => {
        const token = await issuer.sign({
          iss: realm,
          sub: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
          azp: 'claude',
          typ: 'Bearer',
          scope: 'openid profile read',
          resource_access: { account: { roles: ['view-profile'] } },
          ...claims,
        });
        const answer = await ask(service.url, endpoint, token, asked);
        return answer.status;
      };
      const own = settings['MCP_AGGREGATOR_JWT_AUDIENCE'] ?? '';
      expect(await statusOf({ aud: 'account' })).toBe(401);
      expect(await statusOf({ aud: [own, 'account'] })).toBe(200);
      expect(await statusOf({ aud: [`${own}/mcp`, 'account'] })).toBe(200);
      expect(await statusOf({ aud: [`${own}/mcp`, 'account'] }, '/mcp/search')).toBe(401);
      expect(await statusOf({ aud: own, iss: realm.replace('team', 'other') })).toBe(401);
      expect(await statusOf({ aud: own }, '/mcp', 'tools/call')).toBe(403);
      const caller = { aud: own, realm_access: { roles: ['offline_access', 'caller'] } };
      expect(await statusOf(caller, '/mcp', 'tools/call')).toBe(200);
    } finally {
      await service.close();
      issuer.stop();
    }
  });
});
