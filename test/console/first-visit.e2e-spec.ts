import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import {
  describeInBrowser,
  launchBrowser,
  openPage,
  type WatchedPage,
} from '../support/browser.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const require = createRequire(import.meta.url);
const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Longer than a slow machine needs to draw a page. */
const PATIENCE_MS = 20_000;

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What axe calls serious or critical. */
async function graveFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const violations = await page.evaluate<Finding[]>(
    '(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations)()',
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Texts and values of a page that has loaded, without times and counts. */
async function settledText(page: Page): Promise<string> {
  await page.locator('h1:not(:empty)').waitFor();
  await page.getByLabel('Loading', { exact: true }).waitFor({ state: 'detached' });
  const text = await page.evaluate<string>(
    `(() => {
      const main = document.querySelector('main');
      const values = [...main.querySelectorAll('input, textarea, select')].map(({ value }) => value);
      return main.innerText + JSON.stringify(values);
    })()`,
  );
  return text.replaceAll(/\d+(?:[.,]\d+)*(?: ms\b| s\b)?|now|\ba (few|minute|second)\S*/g, '#');
}

const pages = [
  '/',
  '/activity',
  '/servers',
  '/servers/everything',
  '/tools',
  '/tools/everything.echo',
  '/skills',
  '/search',
  '/query',
  '/approvals',
  '/views',
  '/views/default',
  '/access',
  '/sessions',
  '/connections',
  '/connect',
  '/settings',
] as const;

/** One story in a real browser, from the first start on: each test continues where the one before ended. */
describeInBrowser('a first visit of the console', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  let browser: Browser;
  let visit: WatchedPage;
  let page: Page;
  let console: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startProcess(folder.path);
    browser = await launchBrowser();
    visit = await openPage(browser);
    ({ page } = visit);
    page.setDefaultTimeout(PATIENCE_MS);
    console = `${service.url}/console`;
  });
  afterAll(async () => {
    await browser?.close();
    service?.child.kill('SIGTERM');
    await service?.exited;
    await folder?.remove();
  });

  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });

  it('leads a browser from the address of the service to the login', async () => {
    await page.goto(service.url);
    await heading('Switchboard').waitFor();
    expect(page.url()).toBe(`${console}/login`);
  });

  it('logs in with the link that the first start has printed, once', async () => {
    await eventually(() => expect(service.output()).toContain('/console/login#'));
    const link = /http\S+\/console\/login#\S+/.exec(service.output())?.[0] ?? '';
    await page.goto(link);
    await heading('Overview').waitFor();
    expect(page.url()).not.toContain('#');
    const other = await openPage(browser);
    await other.page.goto(link);
    await other.page.getByText('The link was used before or is too old').waitFor();
    await other.context.close();
  });

  it('teaches the one next step while there is no server', async () => {
    await page.getByRole('heading', { name: 'No servers yet' }).waitFor();
  });

  it('adds a server by paste, and shows its tools', async () => {
    await page.getByRole('link', { name: /Paste JSON/ }).click();
    const pasted = {
      mcpServers: { everything: { command: process.execPath, args: [everything, 'stdio'] } },
    };
    await page
      .getByRole('textbox', { name: /mcpServers of a client/ })
      .fill(JSON.stringify(pasted));
    await page.getByRole('button', { name: /^Add 1/ }).click();
    await page.goto(`${console}/servers/everything`);
    await page.getByText('Ready').first().waitFor();
    await page.goto(`${console}/tools`);
    await page.getByText('everything.').first().waitFor();
  });

  it('finds a tool by what it does', async () => {
    await page.goto(`${console}/search?q=repeat%20a%20message`);
    await page.getByText('Echoes back the input string').first().waitFor();
  });

  it('calls a tool from a form, and shows the call elsewhere at once', async () => {
    const watching = await openPage(browser);
    await watching.context.addCookies(await visit.context.cookies());
    watching.page.setDefaultTimeout(PATIENCE_MS);
    await watching.page.goto(`${console}/activity`);
    await watching.page.getByText('Live', { exact: true }).waitFor();

    await page.goto(`${console}/tools/everything.echo?tab=try`);
    await page
      .getByLabel(/message/)
      .first()
      .fill('seen live');
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText('Echo: seen live').first().waitFor();
    await watching.page.getByRole('row', { name: /everything\.echo/ }).waitFor();
    expect(watching.complaints).toEqual([]);
    await watching.context.close();
  });

  it('has the call in the audit log when the page is opened again', async () => {
    await eventually(async () => {
      const path = '/api/v1/aggregator/audit?event=tool.called';
      const { text } = await send(service.url, path, { token: service.token });
      expect(text).toContain('everything.echo');
    });
    await page.goto(`${console}/activity?kind=call`);
    await page.getByText('echo', { exact: true }).first().waitFor();
  });

  it('shows to another token what its view offers, and nothing else', async () => {
    const post = async (path: string, body: object): Promise<string> => {
      const { status, text } = await send(service.url, `/api/v1/aggregator${path}`, {
        method: 'POST',
        token: service.token,
        body: JSON.stringify(body),
      });
      expect({ status, text }).toMatchObject({ status: 201 });
      return text;
    };
    await post('/views', { slug: 'kiosk', rules: [{ server: 'everything', name: 'echo' }] });
    const issued = await post('/tokens', {
      name: 'kiosk',
      scopes: ['call'],
      view: 'kiosk',
    });
    const { token: secret } = JSON.parse(issued) as { token: string };
    const other = await openPage(browser);
    other.page.setDefaultTimeout(PATIENCE_MS);
    await other.page.goto(`${console}/tools`);
    await other.page.getByLabel('Token').fill(secret);
    await other.page.getByRole('button', { name: 'Log in' }).click();
    await other.page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor();
    await other.page.getByText('everything.').first().waitFor();
    expect(await other.page.getByText('get-sum').count()).toBe(0);
    await other.context.close();
  });

  it('lets a person give a key, replace it and end the connection, by keyboard too', async () => {
    const post = async (path: string, body: object): Promise<string> => {
      const answer = await send(service.url, `/api/v1/aggregator${path}`, {
        method: 'POST',
        token: service.token,
        body: JSON.stringify(body),
      });
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
      return answer.text;
    };
    await post('/servers', {
      name: 'own',
      transport_type: 'STDIO',
      credentials: 'per_user',
      auto_connect: false,
      connection_config: { command: 'node', env: { OWN_KEY: '${user.OWN_KEY}' } },
    });
    const issued = await post('/tokens', { name: 'grace', scopes: ['call'] });
    const { token: secret } = JSON.parse(issued) as { token: string };
    const other = await openPage(browser);
    other.page.setDefaultTimeout(PATIENCE_MS);
    await other.page.goto(`${console}/connections`);
    await other.page.getByLabel('Token').fill(secret);
    await other.page.getByRole('button', { name: 'Log in' }).click();
    const row = other.page.getByRole('row', { name: /own/ });
    await row.getByText('Not connected').waitFor();

    await other.page.getByRole('button', { name: 'own', exact: true }).press('Enter');
    const key = other.page.getByLabel('OWN_KEY');
    expect(await key.getAttribute('type')).toBe('password');
    await key.fill('a-key-that-is-pasted');
    await key.press('Enter');
    await row.getByText('Connected', { exact: true }).waitFor();
    expect(await key.inputValue()).toBe('');

    await other.page.getByRole('button', { name: 'Disconnect' }).press('Enter');
    const dialog = other.page.getByRole('dialog', { name: 'Disconnect own?' });
    await dialog.getByRole('button', { name: 'Disconnect' }).press('Enter');
    await row.getByText('Not connected').waitFor();
    expect(await other.page.content()).not.toContain('a-key-that-is-pasted');
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });

  it('keeps where the tokens of callers are exchanged for a server', async () => {
    const path = '/api/v1/aggregator/servers';
    const { token } = service;
    const registered = await send(service.url, path, {
      method: 'POST',
      token,
      body: JSON.stringify({
        name: 'remote',
        transport_type: 'HTTP',
        auto_connect: false,
        connection_config: { base_url: 'https://mcp.example.com/mcp' },
      }),
    });
    const { id } = registered.body as { id: string };
    await page.goto(`${console}/servers/remote?tab=settings`);
    await page.getByLabel('Calls are made with').selectOption('exchange');
    const exchange = page.getByRole('group', { name: 'Exchange of tokens (RFC 8693)' });
    await exchange.getByLabel('Token endpoint').fill('https://id.example.com/token');
    await exchange.getByLabel('Client id').fill('switchboard');
    await page.getByRole('button', { name: /^Save/ }).click();
    await eventually(async () => {
      const { body } = await send(service.url, `${path}/${id}`, { token });
      expect(body).toMatchObject({
        credentials: 'exchange',
        connection_config: {
          exchange: { token_url: 'https://id.example.com/token', client_id: 'switchboard' },
        },
      });
    });
    await page.goto(`${console}/settings`);
    await heading('Settings').waitFor();
    const removed = await send(service.url, `${path}/${id}`, { method: 'DELETE', token });
    expect(removed.status).toBeLessThan(300);
  });

  it('is of no use to a page on another port of the same host', async () => {
    const stranger = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<title>another program</title>');
    });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    const tab = await visit.context.newPage();
    await tab.goto(`http://127.0.0.1:${port}/`);
    const answers = await tab.evaluate(
      `Promise.all(['GET', 'POST', 'DELETE'].map((method) =>
        fetch('${service.url}/api/v1/aggregator/servers', { method, credentials: 'include' })
          .then(({ status }) => status, () => 'refused')))`,
    );
    expect(answers).toEqual(['refused', 'refused', 'refused']);
    await tab.close();
    stranger.close();
  });

  /** What is chosen on a page, each by hand. */
  const filter = (text: string) => page.locator('main input').first().fill(text);
  const tab = (name: string) => page.getByRole('tab', { name }).click();
  const choices: readonly [path: string, choose: () => Promise<unknown>, shows: string][] = [
    ['/tools', () => filter('echo'), 'everything.echo'],
    ['/tools/everything.echo', () => tab('Overrides'), 'Overrides'],
    ['/servers', () => filter('every'), 'everything'],
    ['/servers/everything', () => tab('Settings'), 'everything'],
    ['/search', () => filter('add two numbers'), 'everything.get-sum'],
    ['/activity', () => filter('echo'), 'everything.echo'],
    ['/views/default', () => tab('Texts and budget'), 'default'],
    ['/settings', () => page.getByRole('tab').last().click(), 'Settings'],
  ];
  it.each(choices)(
    'shows the same when %s is loaded again at its address',
    async (path, choose, shows) => {
      await page.goto(console + path);
      const before = await settledText(page);
      await choose();
      // The address follows at the end of typing, what it shows when it was read.
      await page.waitForURL('**?*');
      await page.getByText(shows).first().waitFor();
      await eventually(async () => expect(await settledText(page)).not.toBe(before));
      const shown = await settledText(page);
      await page.reload();
      await eventually(async () => expect(await settledText(page)).toBe(shown));
    },
  );

  it.each(['light', 'dark'] as const)(
    'shows every page in %s without a complaint of the browser or of axe',
    async (colorScheme) => {
      const shown = await openPage(browser, { colorScheme });
      await shown.context.addCookies(await visit.context.cookies());
      shown.page.setDefaultTimeout(PATIENCE_MS);
      const findings: string[] = [];
      for (const path of pages) {
        await shown.page.goto(console + path);
        await shown.page.locator('h1:not(:empty)').waitFor();
        await shown.page.getByLabel('Loading', { exact: true }).waitFor({ state: 'detached' });
        findings.push(...(await graveFindings(shown.page)).map((text) => `${path} ${text}`));
      }
      expect(findings).toEqual([]);
      expect(shown.complaints).toEqual([]);
      await shown.context.close();
    },
  );

  it('complained about nothing in the whole visit', () => {
    expect(visit.complaints).toEqual([]);
  });
});
