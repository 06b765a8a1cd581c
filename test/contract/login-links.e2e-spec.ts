import { Database } from '@app/platform';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { commandLine } from '../support/command-line.js';
import { Browser } from '../support/console.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { TestIssuer } from '../support/issuer.js';
import { createDatabase } from '../support/postgres.js';

const LINKS = '/api/v1/aggregator/login-links';

interface Link {
  readonly url: string;
  readonly name: string;
  readonly expires_at: string;
}

async function linkOf(url: string, token: string): Promise<Link> {
  const answer = await send(url, LINKS, { method: 'POST', token });
  expect(answer.status).toBe(201);
  expect(answer.headers['cache-control']).toBe('no-store');
  return answer.body as Link;
}

const codeIn = ({ url }: Pick<Link, 'url'>): string => new URL(url).hash.slice(1);

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('a login link, on %s', (_, settings) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp(settings);
  });
  afterAll(() => service.close());

  it('logs a browser in as the caller who made it, once', async () => {
    const link = await linkOf(service.url, service.tokens.read);
    expect(link).toEqual({
      url: expect.stringMatching(`^${service.url}/console/login#[\\w-]{43}$`),
      name: 'read',
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const browser = new Browser(service.url);
    const code = codeIn(link);
    expect(await browser.logIn({ code })).toMatchObject({
      status: 200,
      body: { name: 'read', scopes: ['read'] },
    });
    expect((await browser.session()).status).toBe(200);
    const again = await new Browser(service.url).logIn({ code });
    expect([again.status, again.body]).toMatchObject([
      401,
      { detail: expect.stringMatching(/used already, or has expired/) },
    ]);
  });

  it('logs one browser in when many open it at the same time', async () => {
    const code = codeIn(await linkOf(service.url, service.token));
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => new Browser(service.url).logIn({ code })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is refused when it has expired, and when its token is not accepted any more', async () => {
    const late = codeIn(await linkOf(service.url, service.token));
    await service.app
      .get(Database, { strict: false })
      .direct.query('UPDATE mcp.login_codes SET expires_at = now()');
    expect((await new Browser(service.url).logIn({ code: late })).status).toBe(401);
    const api = new Api(service);
    const { body } = await api.call('POST', '/tokens', { name: 'gone', scopes: ['read'] });
    const code = codeIn(await linkOf(service.url, String(body['token'])));
    await api.call('DELETE', `/tokens/${String(body['id'])}`);
    expect((await new Browser(service.url).logIn({ code })).status).toBe(401);
  });

  it('of a browser leads to a session that ends no later than its own', async () => {
    const browser = new Browser(service.url);
    await browser.logIn({ token: service.token });
    const { body: own } = await browser.session();
    const made = await browser.send(LINKS, { method: 'POST' });
    expect(made.status).toBe(201);
    const other = new Browser(service.url);
    const { body } = await other.logIn({ code: codeIn(made.body as Link) });
    const end = (view: unknown): number => Date.parse((view as Link).expires_at);
    expect(end(body)).toBeLessThanOrEqual(end(own));
  });

  it('stands in the audit log when it is made and used, and nowhere with its code', async () => {
    const code = codeIn(await linkOf(service.url, service.tokens.call));
    await new Browser(service.url).logIn({ code });
    const { body } = await new Api(service).call('GET', '/audit?limit=500');
    const entries = body['entries'] as { event: string; actor: string; details: object }[];
    const mine = entries.filter(({ actor }) => actor === 'call');
    expect(mine.map(({ event, details }) => [event, details])).toEqual([
      ['console.logged_in', { by: 'link' }],
      ['console.login_link_made', {}],
    ]);
    const rows = await service.app
      .get(Database, { strict: false })
      .direct.query('SELECT * FROM mcp.login_codes');
    expect(JSON.stringify([body, rows])).not.toContain(code);
  });

  it('is for a code or a token, not for both', async () => {
    const browser = new Browser(service.url);
    for (const body of [{}, { token: service.token, code: 'x' }, { code: 7 }]) {
      expect((await browser.logIn(body)).status).toBe(422);
    }
  });

  it('is printed by `switchboard login`, with whom it logs in', async () => {
    const cli = commandLine(service);
    const { code, stdout } = await cli.run('login');
    expect(code).toBe(0);
    const [sentence, url = ''] = stdout.split('\n');
    expect(sentence).toMatch(/^Open this in a browser until \d\d:\d\d:\d\d.* logs in as admin:$/);
    const browser = new Browser(service.url);
    expect((await browser.logIn({ code: codeIn({ url }) })).status).toBe(200);
    expect(await cli.json('login')).toMatchObject({ name: 'admin', url: expect.any(String) });
  });

  it('is opened by `switchboard login --open` where there is a browser', async () => {
    const folder = await temporaryFolder();
    try {
      const opened = join(folder.path, 'opened');
      const opener = join(folder.path, 'xdg-open');
      await writeFile(
        opener,
        `#!/bin/sh\nprintf %s "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
      );
      await chmod(opener, 0o755);
      const PATH = `${folder.path}:${process.env['PATH'] ?? ''}`;
      const { stdout } = await commandLine(service, { PATH, DISPLAY: ':0' }).run('login', '--open');
      const url = await eventually(() => readFile(opened, 'utf8'));
      expect(stdout.split('\n')).toContain(url);
      const without = await commandLine(service).run('login', '--open');
      expect(without.stdout).toContain('this machine has no display');
    } finally {
      await folder.remove();
    }
  });
});

describe('login links', () => {
  it('count as attempts when they are opened: too many from an address are refused', async () => {
    const service = await startApp();
    try {
      const logIn = async (code: string): Promise<number> =>
        (await new Browser(service.url).logIn({ code })).status;
      for (let i = 0; i < 30; i++) expect(await logIn(`invented-${i}`)).toBe(401);
      expect(await logIn('invented')).toBe(429);
      expect((await new Browser(service.url).logIn({ token: service.token })).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  it('lead to the public address, where there is one', async () => {
    const service = await startApp({ MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com' });
    try {
      const { url } = await linkOf(service.url, service.token);
      expect(url).toMatch(/^https:\/\/mcp\.example\.com\/console\/login#/);
    } finally {
      await service.close();
    }
  });

  it('are not made for callers with a token of an identity provider', async () => {
    const issuer = await TestIssuer.start();
    const service = await startApp(issuer.settings);
    try {
      const token = await issuer.sign();
      const answer = await send(service.url, LINKS, { method: 'POST', token });
      expect([answer.status, answer.text]).toEqual([
        403,
        expect.stringContaining('needs a token of this service'),
      ]);
    } finally {
      await service.close();
      issuer.stop();
    }
  });

  it('work at every replica', async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_TOKENS: 'ops:admin:a-token-of-both-replicas',
    };
    const one = await startApp(settings);
    const other = await startApp(settings);
    try {
      const admin = { ...one, token: 'a-token-of-both-replicas' };
      const { body } = await new Api(admin).call('POST', '/tokens', {
        name: 'new',
        scopes: ['read'],
      });
      const code = codeIn(await linkOf(one.url, String(body['token'])));
      const answer = await new Browser(other.url).logIn({ code });
      expect([answer.status, answer.body]).toMatchObject([200, { name: 'new' }]);
      expect((await new Browser(one.url).logIn({ code })).status).toBe(401);
    } finally {
      await other.close();
      await one.close();
    }
  });
});
