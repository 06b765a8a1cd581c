// Runs the official conformance suite against a fixture server, directly and through a running service,
// and writes the table of both: npm run conformance. Fails when something that holds directly does not
// hold through the service.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const here = import.meta.dirname;
const root = join(here, '..');
const modules = join(here, 'node_modules');
const suite = [
  join(modules, 'node/bin/node'),
  join(modules, '@modelcontextprotocol/conformance/dist/index.js'),
];
const TOKEN = 'conformance-token-of-this-run';
const legs = [
  { revision: '2025-11-25', era: 'legacy' },
  { revision: '2026-07-28', era: 'modern' },
];

const children = [];
const folder = await mkdtemp(join(tmpdir(), 'switchboard-conformance-'));
try {
  const service = await startService(folder);
  const shim = await startShim(service);
  const tables = [];
  for (const { revision, era } of legs) {
    const fixture = await startFixture(era);
    await register(service, `fixture-${era}`, fixture);
    const required = await requiredScenarios(revision, 'server');
    const direct = await run(fixture, revision);
    const through = await run(`${shim}/mcp/servers/fixture-${era}`, revision);
    const client = {
      required: await requiredScenarios(revision, 'client'),
      results: await runClient(service, revision),
    };
    tables.push({ revision, era, required, direct, through, client });
  }
  const report = reportOf(tables);
  await writeFile(join(here, 'RESULTS.md'), report.text);
  console.log(report.text);
  process.exitCode = report.worse === 0 ? 0 : 1;
} finally {
  await Promise.all(children.map(stop));
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

async function startService(dataDir) {
  const child = start(process.execPath, ['dist/apps/aggregator/src/main.js'], {
    MCP_AGGREGATOR_PORT: '0',
    MCP_AGGREGATOR_DATA_DIR: dataDir,
    MCP_AGGREGATOR_LOG_LEVEL: 'warn',
    MCP_AGGREGATOR_LOG_FORMAT: 'json',
    MCP_AGGREGATOR_TOKENS: `conformance:admin:${TOKEN}`,
    // The client id that the suite knows; nobody reads the document.
    MCP_AGGREGATOR_OAUTH_CLIENT_METADATA_URL: 'https://conformance-test.local/client-metadata.json',
  });
  child.stdout.pipe(process.stderr);
  const address = join(dataDir, 'address');
  await until(() => existsSync(address), 'the service does not start');
  return (await readFile(address, 'utf8')).trim();
}

/** The suite cannot send a token, so this adds it; everything else, Host included, passes as it is. */
async function startShim(service) {
  const { hostname, port } = new URL(service);
  const shim = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${TOKEN}` };
    const { method, url: path } = request;
    const forwarded = http.request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    response.on('close', () => forwarded.destroy());
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  shim.listen(0, '127.0.0.1');
  await once(shim, 'listening');
  return `http://127.0.0.1:${shim.address().port}`;
}

async function register(service, name, url) {
  const api = (path, init = {}) =>
    fetch(`${service}/api/v1/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    });
  const body = { name, transport_type: 'HTTP', connection_config: { base_url: url } };
  const answer = await api('aggregator/servers', { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  const call = JSON.stringify({ name: `${name}.test_simple_text` });
  await until(
    async () => (await api('tools/call', { method: 'POST', body: call })).ok,
    `${name} does not connect`,
  );
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

function resultsIn(output) {
  const lines = output.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return new Map(
    [...lines].map(([, name, passed, failed]) => [name, { passed: +passed, failed: +failed }]),
  );
}

function reportOf(tables) {
  let worse = 0;
  const sections = tables.map(({ revision, era, required, direct, through, client }) => {
    const holds = (result) => result !== undefined && result.failed === 0;
    const mark = (result) =>
      result === undefined
        ? 'not run'
        : `${holds(result) ? 'holds' : '**fails**'} (${result.passed}/${result.passed + result.failed})`;
    const rows = [...direct.keys()].map((name) => {
      const [here, there] = [direct.get(name), through.get(name)];
      const isWorse = holds(here) && !holds(there);
      if (isWorse) worse += 1;
      const kind = required.includes(name) ? 'required' : 'reported';
      return `| ${name} | ${kind} | ${mark(here)} | ${mark(there)} | ${isWorse ? '**worse**' : 'same'} |`;
    });
    const count = (results) => required.filter((name) => holds(results.get(name))).length;
    const clientRows = [...client.results].map(([name, result]) => {
      const kind = client.required.includes(name) ? 'required' : 'reported';
      return `| ${name} | ${kind} | ${mark(result)} |`;
    });
    const clientCount = client.required.filter((name) => holds(client.results.get(name))).length;
    return [
      `## ${revision}, ${era} fixture`,
      '',
      `Required scenarios that hold: ${count(direct)} of ${required.length} directly, ${count(through)} of ${required.length} through the service.`,
      '',
      '| scenario | | direct | through `/mcp/servers/{name}` | |',
      '|---|---|---|---|---|',
      ...rows,
      '',
      `### The service as the client, ${revision}`,
      '',
      `Required scenarios that hold: ${clientCount} of ${client.required.length}.`,
      '',
      '| scenario | | |',
      '|---|---|---|',
      ...clientRows,
      '',
    ].join('\n');
  });
  const text = [
    '# Conformance',
    '',
    'The official suite (`@modelcontextprotocol/conformance`, pinned in `package.json`) against the same fixture',
    'server, directly and through a running service. Written by `npm run conformance`; in brackets the checks',
    'that passed. Scenarios that are only reported do not count for the suite; those that fail directly too',
    'ask for extensions that the fixture does not have.',
    '',
    ...sections,
  ].join('\n');
  return { text, worse };
}
