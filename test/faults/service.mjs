// Shared by the scripts of the fault suite: the built service in its own folder, its REST API, MCP sessions, and the
// line that each script prints. Aborts a script that takes too long; removes what it started.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 8_000;
export const LONGEST_SCRIPT_MS = Number(process.env.FAULTS_LONGEST_MS ?? 90_000);
const MODERN = '2026-07-28';

/** Name to token. reader has only the scope `read`. */
export const TOKENS = Object.fromEntries(
  ['ada', 'bob', 'eve', 'reader'].map((name) => [name, `${name}-token-of-the-fault-suite`]),
);
const SCOPES = { reader: 'read' };

const children = new Set();
const folders = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) remove(folder);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
setTimeout(() => {
  console.log(`${process.argv[1]} | | ends within ${LONGEST_SCRIPT_MS / 1_000} s | no | FAILED`);
  process.exit(1);
}, LONGEST_SCRIPT_MS).unref();

/** The last line of a script, and its exit code. */
export function row(id, what, goal, measured, ok) {
  console.log([id, what, `goal ${goal}`, `measured ${measured}`, ok ? 'ok' : 'FAILED'].join(' | '));
  process.exitCode = ok ? 0 : 1;
}

export async function until(check, what = String(check), withinMs = 120_000) {
  const end = performance.now() + withinMs;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}

export const fixture = (name) => join(ROOT, 'test/fixtures', name);

/** The connection_config of a program of test/fixtures or test/faults over STDIO. */
export const stdio = (path, ...args) => ({
  command: process.execPath,
  args: [existsSync(path) ? path : fixture(path), ...args],
});

/**
 * The service as its own process. Tokens of ada, bob and eve are admins, that of reader may read; `token` is ada's.
 * `nodeOptions` is a string for NODE_OPTIONS. No rate limit unless `env` sets one.
 */
export async function startService({
  env = {},
  nodeOptions = '',
  folder = temporaryFolder(),
} = {}) {
  const addressFile = join(folder, 'address');
  rmSync(addressFile, { force: true });
  const child = spawn(process.execPath, [join(ROOT, 'dist/apps/aggregator/src/main.js')], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: nodeOptions,
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: folder,
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_LOG_LEVEL: 'warn',
      MCP_AGGREGATOR_TOKENS: Object.entries(TOKENS)
        .map(([name, token]) => `${name}:${SCOPES[name] ?? 'admin'}:${token}`)
        .join(),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  const keep = (text) => (output = (output + text).slice(-100_000));
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', keep);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  void exited.then(() => children.delete(child));
  const isEnded = () => child.exitCode !== null || child.signalCode !== null;
  const isUp = () => {
    if (isEnded()) throw new Error(`the service ended:\n${output}`);
    return existsSync(addressFile) && readFileSync(addressFile, 'utf8');
  };
  const url = await until(isUp, 'the service starts', START_WITHIN_MS);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
  return {
    url,
    token: TOKENS.ada,
    tokens: TOKENS,
    child,
    pid: child.pid,
    folder,
    agent,
    exited,
    isEnded,
    output: () => output,
    rss: () => rssOf(child.pid),
    /** SIGTERM, then SIGKILL; the folder is removed. */
    async stop() {
      agent.destroy();
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await exited;
      clearTimeout(force);
      remove(folder);
    },
  };
}

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-faults-'));
  folders.add(folder);
  return folder;
}

function remove(folder) {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Resident memory of the process in bytes. */
export function rssOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) * 1_024;
}

/** Sends a request and resolves with the response, its body unread. `body` is text or a value for JSON. */
export function open(service, method, path, { body, token = service.token, headers, agent } = {}) {
  return new Promise((resolve, reject) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const request = http.request(service.url + path, {
      method,
      agent: agent ?? service.agent,
      headers: {
        authorization: `Bearer ${token}`,
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...headers,
      },
    });
    request.once('response', resolve).once('error', reject).end(text);
  });
}

export async function textOf(response) {
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** `body` of the response is parsed if it is JSON, else the text. */
export async function rest(service, method, path, body, token) {
  const response = await open(service, method, path, { body, ...(token && { token }) });
  const text = await textOf(response);
  return { status: response.statusCode, body: parsed(text) };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const SERVERS = '/api/v1/aggregator/servers';

/** Registers a server and waits until it is connected with this many known tools; returns its id. */
export async function register(service, name, { transport_type, connection_config, tools = 1 }) {
  const answer = await rest(service, 'POST', SERVERS, { name, transport_type, connection_config });
  if (answer.status !== 201)
    throw new Error(`${name} was not registered: ${JSON.stringify(answer.body)}`);
  const { id } = answer.body;
  const isReady = async () => {
    const { body } = await rest(service, 'GET', `${SERVERS}/${id}`);
    return body.status === 'CONNECTED' && body.tool_count >= tools;
  };
  await until(isReady, `${name} is connected`);
  const isOffered = async () => tools === 0 || (await offers(service, `${name}__`));
  await until(isOffered, `the tools of ${name} are offered`);
  return id;
}

/** Whether the aggregated list has a tool with this prefix. */
async function offers(service, prefix) {
  let cursor;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const { message } = await postModern(service, { id: 1, method: 'tools/list', params });
    if (message?.result?.tools.some((tool) => tool.name.startsWith(prefix))) return true;
    cursor = message?.result?.nextCursor;
  } while (cursor !== undefined);
  return false;
}

export const callTool = (service, name, args = {}, token) =>
  rest(service, 'POST', '/api/v1/tools/call', { name, arguments: args }, token);

const ACCEPT = { accept: 'application/json, text/event-stream' };

/**
 * A session of the 2025-11-25 era. `post(message, onMessage)` resolves with `{ status, messages, message }`, whether
 * the answer is JSON or a stream; `get(onMessage)` opens the standing stream: `{ status, messages, response, close() }`.
 */
export async function mcpSession(service, token = service.token, path = '/mcp', capabilities = {}) {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'fault-suite', version: '1' },
  };
  const begun = await postMcp(service, path, token, {
    message: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
  });
  const id = begun.headers['mcp-session-id'];
  if (!id) throw new Error(`no session: ${begun.status} ${JSON.stringify(begun.messages)}`);
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  const post = (message, onMessage) =>
    postMcp(service, path, token, { message, headers, onMessage });
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const get = async (onMessage) => {
    const response = await open(service, 'GET', path, {
      token,
      headers: { accept: 'text/event-stream', ...headers },
      agent: false,
    });
    const messages = [];
    void eventsOf(response, (message) => {
      messages.push(message);
      onMessage?.(message);
    });
    return {
      status: response.statusCode,
      messages,
      response,
      close: () => response.destroy(),
    };
  };
  return { id, headers, post, get };
}

/** One message of the 2026-07-28 era, without a session; resolves as `post` of a session does. */
export function postModern(
  service,
  message,
  { token, path = '/mcp', capabilities = {}, onMessage } = {},
) {
  return postMcp(service, path, token ?? service.token, {
    message: modern(message, capabilities),
    headers: modernHeaders(message),
    onMessage,
  });
}

/** The message with the client metadata that each request of the 2026-07-28 era has. */
export const modern = (message, capabilities = {}) => ({
  jsonrpc: '2.0',
  ...message,
  params: {
    ...message.params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'fault-suite', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...message.params?._meta,
    },
  },
});

export const modernHeaders = ({ method, params }) => ({
  ...ACCEPT,
  'mcp-protocol-version': MODERN,
  'mcp-method': method,
  ...((params?.name ?? params?.uri) && { 'mcp-name': params.name ?? params.uri }),
});

async function postMcp(service, path, token, { message, headers, onMessage }) {
  const response = await open(service, 'POST', path, {
    body: message,
    token,
    headers: { ...ACCEPT, ...headers },
  });
  const messages = [];
  if (response.headers['content-type']?.startsWith('text/event-stream')) {
    await eventsOf(response, (one) => {
      messages.push(one);
      onMessage?.(one);
    });
  } else {
    const text = await textOf(response);
    if (text) messages.push(...[parsed(text)].flat());
  }
  return {
    status: response.statusCode,
    headers: response.headers,
    messages,
    message: messages.at(-1),
  };
}

/** Calls `onMessage` with the data of each event; resolves when the stream ends, also by an error. */
export function eventsOf(response, onMessage) {
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split('\n').filter((line) => line.startsWith('data:'));
      const data = lines.map((line) => line.slice(5).trimStart()).join('\n');
      if (data) onMessage(parsed(data));
    }
  });
  return new Promise((resolve) => {
    response.once('close', resolve).on('error', () => undefined);
  });
}
