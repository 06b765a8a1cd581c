// The built service in a folder of its own, and its REST API.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TOKEN = 'token-of-the-real-run';
const START_WITHIN_MS = 300_000;
const STOP_WITHIN_MS = 30_000;
const API = '/api/v1/aggregator/servers';

export async function until(check, what, withinMs) {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (performance.now() > end) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await sleep(200);
  }
}

export async function startService(folder, settings = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'dist/apps/aggregator/src/main.js')], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: folder,
      MCP_AGGREGATOR_MAX_SERVERS: '200',
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_LOG_LEVEL: 'error',
      MCP_AGGREGATOR_TOKENS: `real:admin:${TOKEN}`,
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const address = join(folder, 'address');
  const stop = async () => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await exited;
    clearTimeout(force);
  };
  try {
    await until(() => existsSync(address), 'the service starts', START_WITHIN_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = readFileSync(address, 'utf8').trim();

  const rest = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    url,
    token: TOKEN,
    rest,
    register: (name, connection_config) =>
      rest('POST', API, { name, transport_type: 'STDIO', connection_config }),
    server: (id) => rest('GET', `${API}/${id}`),
    stop,
  };
}
