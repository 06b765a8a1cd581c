// `npm run real:oauth`: the command lines of Claude Code and Codex from npm log in to the built service over loopback,
// without accounts at their makers, and call a tool. The model of Claude Code is a stand-in that asks for that call;
// Codex calls tools without a model through its app server. Linux, because Claude Code needs a terminal (`script`).
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claudeCode } from './oauth-claude-code.mjs';
import { codex } from './oauth-codex.mjs';
import { ConsentBrowser } from './consent-browser.mjs';
import { installPackage, isInstalled, programOf } from './real.mjs';
import { startService, until } from './service.mjs';

const LOGIN_WITHIN_MS = 60_000;
const COLUMNS = [
  'client',
  'names itself by',
  'asks for',
  'logs in',
  'calls a tool',
  'refreshes',
  'says after the withdrawal',
];
const SERVER = {
  command: process.execPath,
  args: [join(process.cwd(), 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')],
};

const folder = mkdtempSync(join(tmpdir(), 'switchboard-oauth-'));
const rows = [];
try {
  for (const client of [claudeCode, codex]) {
    const reason = await problemOfInstalling(client);
    if (reason === undefined) rows.push(await rowOf(client));
    else console.log(`skipped: ${client.label} ${client.version}: ${reason}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
for (const cells of [COLUMNS, COLUMNS.map(() => '-'), ...rows]) {
  console.log(`| ${cells.join(' | ')} |`);
}
process.exitCode = rows.flat().some((cell) => cell.startsWith('FAILED')) ? 1 : 0;

async function problemOfInstalling(client) {
  if (process.platform !== 'linux') return 'it is played on Linux only';
  if (isInstalled(client)) return undefined;
  return installPackage(client).then(
    () => undefined,
    (error) => `it cannot be installed: ${error.message.trim().split('\n').at(-1)}`,
  );
}

async function rowOf(client) {
  const home = join(folder, client.name);
  mkdirSync(home);
  const run = { home, program: programOf(client) };
  const named = await withService(`${client.name}-named`, {}, (service) =>
    identityOf(client, { ...run, ...service }),
  );
  const settings = { MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS: 'false' };
  const did = await withService(client.name, settings, (service) =>
    playedBy(client, { ...run, ...service }),
  );
  console.error(`${client.label} ${client.version}: ${JSON.stringify(did)}`);
  return [`${client.label} ${client.version}`, named, ...did];
}

async function withService(name, settings, use) {
  const port = await freePort();
  const service = await startService(join(folder, `data-${name}`), {
    MCP_AGGREGATOR_PORT: String(port),
    MCP_AGGREGATOR_OAUTH: 'on',
    MCP_AGGREGATOR_PUBLIC_URL: `http://127.0.0.1:${port}`,
    ...settings,
  });
  try {
    return await use({ service, url: `${service.url}/mcp` });
  } finally {
    await service.stop();
  }
}

/** How it names itself where the service reads documents of clients, and whether this machine reaches that document. */
async function identityOf(client, run) {
  await client.add(run);
  const login = await startLogin(client, run);
  await login.stop();
  const id = login.address.searchParams.get('client_id');
  if (!id.startsWith('https://')) return 'registered by itself';
  const page = await (await fetch(login.address)).text();
  const isRefused = page.includes('cannot be connected');
  return `\`${id}\`${isRefused ? ', which this machine did not reach' : ''}`;
}

/** One cell for each thing that it does, in this order; after one that failed the others are not tried. */
async function playedBy(client, run) {
  const { id } = await run.service.register('everything', SERVER);
  const isUp = async () => (await run.service.server(id)).tool_count > 0;
  await until(isUp, 'the server lists its tools', LOGIN_WITHIN_MS);
  await client.add(run);
  const steps = [() => logIn(client, run), call, refresh, withdraw];
  const cells = [];
  for (const step of steps) {
    const hasFailed = cells.at(-1)?.startsWith('FAILED');
    cells.push(hasFailed ? 'not tried' : await step().catch((error) => `FAILED: ${error.message}`));
  }
  return [cells[0].split('; ')[0], cells[0].split('; ')[1] ?? cells[0], ...cells.slice(1)];

  async function call() {
    const text = `hello from ${client.name}`;
    const answer = await client.call(run, text);
    if (!answer.includes(`Echo: ${text}`)) throw new Error(answer.slice(0, 300));
    return 'yes';
  }

  /** Tokens that were signed with the key before are refused, as those that have expired are. */
  async function refresh() {
    await run.service.rest('POST', '/api/v1/oauth/keys/rotate', { end_others: true });
    await call();
    const { grants } = await run.service.rest('GET', '/api/v1/oauth/grants');
    return grants.length === 1 ? 'yes' : `FAILED: it has ${grants.length} grants`;
  }

  async function withdraw() {
    const { grants } = await run.service.rest('GET', '/api/v1/oauth/grants');
    for (const grant of grants)
      await run.service.rest('DELETE', `/api/v1/oauth/grants/${grant.id}`);
    const state = await client.state(run);
    if (!client.saysLogin.test(state)) throw new Error(state.slice(0, 300));
    return `"${client.saysLogin.exec(state)[0]}"`;
  }
}

async function logIn(client, run) {
  const login = await startLogin(client, run);
  try {
    const browser = new ConsentBrowser(run.service.url);
    const pages = await browser.allow(login.address.href, run.service.token);
    const code = await login.exited;
    if (code !== 0) throw new Error(login.output().slice(-300));
    const { searchParams } = login.address;
    const redirect = new URL(searchParams.get('redirect_uri'));
    const path = new URL(searchParams.get('resource') ?? run.url).pathname;
    const named = /It calls itself (.*?) You are/.exec(pages.shown)?.[1] ?? 'unnamed';
    return `\`${searchParams.get('scope')}\` at ${path}; yes, as "${named}", at ${redirect.hostname} and a port of its own`;
  } finally {
    await login.stop();
  }
}

/** Starts the login of a client in a terminal, and waits until it says what to open. */
async function startLogin(client, { home, program, url }) {
  const command = [program, ...client.loginArgs].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: home,
    env: { ...client.env(home), BROWSER: '/bin/true', COLUMNS: '2000' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let output = '';
  child.stdout.on('data', (part) => (output += part));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  const pattern = new RegExp(`${new URL(url).origin}/authorize\\?\\S+(?=\\s)`);
  try {
    const says = () => pattern.exec(output)?.[0];
    const address = await until(says, `${client.label} says what to open`, LOGIN_WITHIN_MS);
    return { address: new URL(address), exited, stop, output: () => output };
  } catch (error) {
    await stop();
    throw new Error(`${error.message}: ${output.slice(-300)}`);
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
