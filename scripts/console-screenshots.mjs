// `npm run console:screenshots`: takes the pictures of docs/console.md again, of a service with three real servers.
import { chromium } from 'playwright-core';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pictures = [
  ['overview', '/'],
  ['servers', '/servers'],
  ['server', '/servers/filesystem'],
  ['try', '/tools/everything.echo?tab=try'],
  ['search', '/search?q=read%20a%20file'],
  ['view', '/views/reading'],
  ['activity', '/activity'],
];

const require = createRequire(import.meta.url);
const program = (name) => require.resolve(`@modelcontextprotocol/${name}/dist/index.js`);
const servers = [
  ['everything', [program('server-everything'), 'stdio']],
  ['filesystem', [program('server-filesystem'), resolve('docs')]],
  ['memory', [program('server-memory')]],
];
const calls = [
  ['everything.echo', { message: 'hello' }],
  ['everything.get-sum', { a: 1, b: 2 }],
  ['filesystem.list_directory', { path: resolve('docs') }],
  ['filesystem.read_text_file', { path: resolve('docs/no-such-file.md') }],
  ['memory.read_graph', {}],
];

const chromiumPath =
  process.env.CHROMIUM_PATH ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const folder = mkdtempSync(join(tmpdir(), 'switchboard-pictures-'));
const out = 'docs/console';

async function main() {
  const service = spawn(process.execPath, ['dist/apps/aggregator/src/main.js'], {
    env: { PATH: process.env.PATH, MCP_AGGREGATOR_PORT: '0', MCP_AGGREGATOR_DATA_DIR: folder },
    stdio: 'ignore',
  });
  try {
    const addressFile = join(folder, 'address');
    while (!existsSync(addressFile) || readFileSync(addressFile, 'utf8') === '') await sleep(100);
    const url = readFileSync(addressFile, 'utf8');
    const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
    await fill(url, token);
    await take(url, token);
  } finally {
    service.kill();
    await sleep(1_000);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(url, token) {
  const send = (path, body) =>
    fetch(`${url}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).then((response) => response.json());
  for (const [name, args] of servers) {
    const connection_config = { command: process.execPath, args };
    await send('/aggregator/servers', { name, transport_type: 'STDIO', connection_config });
  }
  const title = 'Reading only';
  await send('/aggregator/views', { slug: 'reading', title, rules: [{ annotation: 'read_only' }] });
  while ((await send('/aggregator/state')).connected_servers < servers.length) await sleep(200);
  for (let i = 0; i < 60; i++) {
    const [name, given] = calls[i % calls.length];
    await send('/tools/call', { name, arguments: given });
    await sleep(150);
  }
}

async function take(url, token) {
  mkdirSync(out, { recursive: true });
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  const viewport = { width: 1280, height: 800 };
  for (const colorScheme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport, colorScheme });
    await page.goto(`${url}/console/login`);
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const [name, path] of pictures) {
      await page.goto(`${url}/console${path}`);
      await page.getByText('Live', { exact: true }).waitFor();
      await sleep(1_500);
      await page.screenshot({ path: join(out, `${name}-${colorScheme}.png`) });
    }
    await page.close();
  }
  await browser.close();
}

if (chromiumPath) await main();
else console.error('There is no Chromium; install it, or set CHROMIUM_PATH.');
