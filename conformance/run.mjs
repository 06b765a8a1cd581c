// Runs the official conformance suite against a fixture server, directly and through a running service, with the
// service as the client, and with its authorization server, and prints the tables: npm run conformance. What makes it
// fail is in gate.mjs.
// `npm run conformance -- --write` writes the tables to RESULTS.md, too; `-- --replicas=3` runs the suite against so many
// replicas behind a balancer without stickiness, with the same expectations.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort, runAuthorizationServer } from './authorization-server.mjs';
import { problemsOf, recordedClients } from './gate.mjs';
import { reportOf } from './report.mjs';

const here = import.meta.dirname;
const root = join(here, '..');
const modules = join(here, 'node_modules');
const suite = [
  join(modules, 'node/bin/node'),
  join(modules, '@modelcontextprotocol/conformance/dist/index.js'),
];
const TOKEN = 'conformance-token-of-this-run';
const REPLICAS = Number(
  process.argv.find((option) => option.startsWith('--replicas='))?.split('=')[1] ?? 0,
);
const SETTINGS = {
  MCP_AGGREGATOR_TOKENS: `conformance:admin:${TOKEN}`,
  // The client id that the suite expects; no program fetches the document.
  MCP_AGGREGATOR_OAUTH_CLIENT_METADATA_URL: 'https://conformance-test.local/client-metadata.json',
};
const legs = [
  { revision: '2025-11-25', era: 'legacy' },
  { revision: '2026-07-28', era: 'modern' },
];

const children = [];
const ends = [];
const folder = await mkdtemp(join(tmpdir(), 'switchboard-conformance-'));
try {
  const service = await (REPLICAS > 0 ? startReplicas(REPLICAS) : startService(folder));
  const issuerUrl = await startIssuer(join(folder, 'issuer'));
  const shim = await startShim(service);
  const tables = [];
  for (const { revision, era } of legs) {
    const fixture = await startFixture(era);
    // Short, as overlong names get a hash at /mcp, and in no text of the fixture.
    const name = `zq${revision.slice(2, 4)}`;
    const remove = await register(service, name, fixture);
    const required = await requiredScenarios(revision, 'server');
    const direct = await run(fixture, revision);
    const through = {
      server: await run(`${shim}/mcp/servers/${name}`, revision),
      all: await run(`${shim}/renamed/${name}/mcp`, revision),
      search: await run(`${shim}/mcp/search`, revision),
    };
    await remove();
    const client = {
      required: await requiredScenarios(revision, 'client'),
      results: await runClient(service, revision),
    };
    const issuer = {
      required: await authorizationScenarios(revision),
      results: await runAuthorization(issuerUrl, revision),
    };
    tables.push({ revision, era, required, direct, through, client, issuer });
  }
  const results = join(here, 'RESULTS.md');
  const problems = problemsOf(tables, recordedClients(await readFile(results, 'utf8')));
  const text = reportOf(tables);
  if (process.argv.includes('--write')) await writeFile(results, text);
  console.log(text);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await Promise.all([...children.map(stop), ...ends.map((end) => end())]);
  await rm(folder, { recursive: true, force: true });
}
process.exit();

function start(command, args, env = {}) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: root,
    env: { ...process.env, ...env },
  });
  children.push(child);
  return child;
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

async function firstLine(child) {
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return line;
}

function startFixture(era) {
  return firstLine(start(process.execPath, [join(here, 'fixture-server.mjs'), era]));
}

async function startService(dataDir, settings = { MCP_AGGREGATOR_PORT: '0' }) {
  const child = start(process.execPath, ['dist/apps/aggregator/src/main.js'], {
    MCP_AGGREGATOR_DATA_DIR: dataDir,
    MCP_AGGREGATOR_LOG_LEVEL: 'warn',
    MCP_AGGREGATOR_LOG_FORMAT: 'json',
    ...SETTINGS,
    ...settings,
  });
  child.stdout.pipe(process.stderr);
  const address = join(dataDir, 'address');
  await until(() => existsSync(address), 'the service does not start');
  return (await readFile(address, 'utf8')).trim();
}

/** A service with an authorization server, whose address has to be known before it starts. */
async function startIssuer(dataDir) {
  const port = `${await freePort()}`;
  const address = `http://127.0.0.1:${port}`;
  await startService(dataDir, {
    MCP_AGGREGATOR_PORT: port,
    MCP_AGGREGATOR_PUBLIC_URL: address,
    MCP_AGGREGATOR_OAUTH: 'on',
  });
  return address;
}

async function startReplicas(count) {
  process.env.FAULTS_LONGEST_MS ??= '900000';
  const { Cluster } = await import('../test/cluster/cluster.mjs');
  const cluster = new Cluster([], SETTINGS);
  await cluster.start(count);
  ends.push(() => cluster.end());
  return cluster.url;
}

/**
 * A proxy that adds the token, which the suite cannot send; the rest of a request, Host included, is forwarded unchanged.
 * `/mcp` prefixes tools and prompts with the name of their server, which the suite does not expect: under
 * `/renamed/{server}` the proxy adds the prefix to requests and removes it from responses.
 */
async function startShim(service) {
  const { hostname, port } = new URL(service);
  const forward = async (request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${TOKEN}` };
    const [, name, rest] = /^\/renamed\/([^/]+)(\/.*)$/.exec(request.url) ?? [];
    const prefix = name === undefined ? '' : `${name}__`;
    const { method } = request;
    const body = prefix ? renamed(await read(request), headers, prefix) : undefined;
    const target = { hostname, port, method, path: rest ?? request.url, headers };
    const forwarded = http.request(target, (answer) => {
      if (prefix) delete answer.headers['content-length'];
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      if (!prefix) return answer.pipe(response);
      answer.setEncoding('utf8');
      answer.on('data', (part) => response.write(part.replaceAll(prefix, '')));
      answer.on('end', () => response.end());
    });
    response.on('close', () => forwarded.destroy());
    forwarded.on('error', () => response.destroy());
    if (body === undefined) request.pipe(forwarded);
    else forwarded.end(body);
  };
  const shim = http.createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  shim.listen(0, '127.0.0.1');
  await once(shim, 'listening');
  return `http://127.0.0.1:${shim.address().port}`;
}

async function read(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Adds the server prefix to the names in the body, and to the headers that mirror them. */
function renamed(text, headers, prefix) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return text;
  }
  const { method, params } = message ?? {};
  const named =
    method === 'completion/complete' && params?.ref?.type === 'ref/prompt' ? params.ref : params;
  const isNamed = ['tools/call', 'prompts/get', 'completion/complete'].includes(method);
  if (!isNamed || typeof named?.name !== 'string') return text;
  // A scenario may send a header that does not fit, so each is renamed by itself.
  if (headers['mcp-name'] !== undefined) headers['mcp-name'] = prefix + headers['mcp-name'];
  named.name = prefix + named.name;
  const body = JSON.stringify(message);
  if (headers['content-length'] !== undefined) headers['content-length'] = Buffer.byteLength(body);
  return body;
}

/** Resolves when the server is connected, with a function that removes it. */
async function register(service, name, url) {
  const api = (path, init = {}) =>
    fetch(`${service}/api/v1/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    });
  const body = { name, transport_type: 'HTTP', connection_config: { base_url: url } };
  const answer = await api('aggregator/servers', { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  const { id } = await answer.json();
  const call = JSON.stringify({ name: `${name}.test_simple_text` });
  await until(
    async () => (await api('tools/call', { method: 'POST', body: call })).ok,
    `${name} does not connect`,
  );
  return () => api(`aggregator/servers/${id}`, { method: 'DELETE' });
}

async function until(check, otherwise) {
  for (let i = 0; i < 300; i++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(otherwise);
}

function conformance(...args) {
  const [node, script] = suite;
  const options = { cwd: folder, maxBuffer: 64 * 1_048_576 };
  return new Promise((resolve) => {
    execFile(node, [script, ...args], options, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
}

async function requiredScenarios(revision, side) {
  const listed = await conformance('list', '--requirements', revision);
  const [servers, rest] = listed.split(/^Client scenarios/m);
  const section = side === 'server' ? servers : rest.split('Run and reported')[0];
  return [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
}

/** Scenario → { passed, failed }. */
async function run(url, revision) {
  const output = await conformance(
    ...['server', '--url', url, '--requirements', revision, '-o', join(folder, 'results')],
  );
  return resultsIn(output);
}

/** The other side: the service connects to the servers of the suite, and a client uses them through it. */
async function runClient(service, revision) {
  Object.assign(process.env, { SWITCHBOARD_URL: service, SWITCHBOARD_TOKEN: TOKEN });
  const command = `${process.execPath} ${join(here, 'client.mjs')}`;
  return resultsIn(
    await conformance(
      ...['client', '--command', command, '--requirements', revision],
      ...['-o', join(folder, 'results')],
    ),
  );
}

/** All that the suite has for this revision: it has no list of those that are required. */
async function authorizationScenarios(revision) {
  const [, section = ''] = (await conformance('list')).split(/^Authorization server scenarios/m);
  return [...section.matchAll(/^ {2}- (\S+) \[(.*)\]/gm)]
    .filter(([, , revisions]) => revisions.split(',').includes(revision))
    .map(([, name]) => name);
}

/** What the client names as its resource → scenario → { passed, failed }. */
async function runAuthorization(issuer, revision) {
  const outputs = await runAuthorizationServer({ issuer, token: TOKEN, suite, revision, folder });
  return new Map([...outputs].map(([resource, output]) => [resource, resultsIn(output)]));
}

function resultsIn(output) {
  const lines = output.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return new Map(
    [...lines].map(([, name, passed, failed]) => [name, { passed: +passed, failed: +failed }]),
  );
}
