// Processes under measurement: started fresh, monitored through /proc, stopped at the end of the run.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const TOKEN = 'bench-token-0123456789abcdef';
export const AUTH = { Authorization: `Bearer ${TOKEN}` };

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const main = file('../../dist/apps/aggregator/src/main.js');
const running = new Set();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Of its threads, from the scheduler: the ticks of `stat` are a microsecond a call in a run of 10,000 calls. */
export function cpuMs(pid) {
  let ns = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const [ran] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ');
    ns += Number(ran);
  }
  return ns / 1e6;
}

export function rssMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1_024;
}

export const pause = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

export async function until(check, withinMs = 60_000, what = String(check)) {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = await check().catch(() => undefined);
    if (found) return found;
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await pause(5);
  }
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Standard error is inherited, so that messages appear in the output of the run. */
export function start(argv, options = {}) {
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...options,
    env: { ...process.env, NODE_ENV: 'production', ...options.env },
  });
  running.add(child);
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  }).then(() => running.delete(child));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { pid: child.pid, stop };
}

export async function startUpstream(tools, page = tools) {
  const port = await freePort();
  const child = start([file('upstream-http.mjs'), String(port), String(tools), String(page)]);
  const url = `http://127.0.0.1:${port}/mcp`;
  await until(() => fetch(url).then(() => true));
  return { ...child, url };
}

export async function startFloor(kind, upstream) {
  const port = await freePort();
  const child = start([file(`${kind}.mjs`), String(port), upstream], {
    // The SDK prints a warning per call with 1,500 open ones, which would distort its result.
    env: { NODE_NO_WARNINGS: '1' },
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await until(() => fetch(url).then(() => true));
  return { ...child, url, headers: {} };
}

export const stdioUpstream = {
  command: process.execPath,
  args: [file('upstream-stdio.mjs'), '10'],
};

/** As `npm start` runs it, with authentication, metrics and audit, in an empty data folder. `env` may be made of its origin. */
export async function startProduct(servers, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  writeFileSync(join(folder, 'servers.json'), JSON.stringify({ mcpServers: servers }));
  return startIn(folder, env);
}

async function startIn(folder, env) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = start([...nodeOptions(), main], {
    cwd: folder,
    env: {
      MCP_AGGREGATOR_PORT: String(port),
      MCP_AGGREGATOR_DATA_DIR: join(folder, 'data'),
      MCP_AGGREGATOR_CONFIG: join(folder, 'servers.json'),
      MCP_AGGREGATOR_TOKENS: `bench:read+call+admin:${TOKEN}`,
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_LOG_FORMAT: 'json',
      MCP_AGGREGATOR_LOG_LEVEL: 'error',
      ...(typeof env === 'function' ? env(origin) : env),
    },
  });
  const isReady = async () => (await fetch(`${origin}/health/ready`)).ok;
  await until(isReady, 60_000, 'the service is ready');
  const readyMs = performance.now() - started;
  const ask = async (path, options) => (await fetch(origin + path, options)).json();
  return {
    pid: child.pid,
    origin,
    url: `${origin}/mcp`,
    headers: AUTH,
    readyMs,
    get: (path) => ask(path, { headers: AUTH }),
    post: (path, body) =>
      ask(path, {
        method: 'POST',
        headers: { ...AUTH, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    /** Restart on the same data folder. */
    restart: async () => {
      await child.stop();
      return startIn(folder, env);
    },
    stop: async () => {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The Node flags of `npm start`. */
function nodeOptions() {
  const { scripts } = JSON.parse(readFileSync(file('../../package.json'), 'utf8'));
  return [...scripts.start.matchAll(/ (--\S+)/g)].map(([, option]) => option);
}

/** Waits until it lists this many tools and background work is done. */
export async function settled(product, tools) {
  await until(
    async () => (await product.get('/api/v1/aggregator/tools?limit=1')).total >= tools,
    600_000,
    `${tools} tools are discovered`,
  );
  for (let quiet = 0; quiet < 5;) {
    const before = cpuMs(product.pid);
    await pause(200);
    quiet = cpuMs(product.pid) - before <= 20 ? quiet + 1 : 0;
  }
}
