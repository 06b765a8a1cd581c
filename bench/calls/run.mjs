// npm run bench: cost of a call, compared with floors and a gateway of the official SDK; writes ../RESULTS.md. `node
// bench/calls/run.mjs calls longLists` runs only these parts, and writes nothing.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { Connection, headOf } from './http-connection.mjs';
import { listTools, openSession } from './mcp-client.mjs';
import { interleaved, measure, median, ratio } from './measure.mjs';
import { startPostgres } from './postgres.mjs';
import {
  AUTH,
  pause,
  rssMb,
  settled,
  startFloor,
  startProduct,
  startUpstream,
  stdioUpstream,
  until,
} from './processes.mjs';
import { goalLine, results, say, table } from './report.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = 1;
const MANY_SERVERS = 100;
const TOOLS_OF_EACH = 1_000;
const limits = {
  MCP_AGGREGATOR_MAX_TOOLS: '1000000',
  MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER: '1000000',
  MCP_AGGREGATOR_MAX_SERVERS: '500',
};
const goals = [];
const goal = (...line) => goals.push(goalLine(...line));
const begun = performance.now();

const upstream = await startUpstream(10);
const product = await startProduct({ up0: { url: upstream.url } });
await settled(product, 10);
const parts = {
  startAndRest,
  memoryAfterCalls,
  calls,
  overStdio,
  largeAnswers,
  longLists,
  manyTools,
};
const chosen = process.argv.slice(2);
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length === 0 || chosen.includes(name)) await part();
}
await upstream.stop();
await product.stop();

const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
const text = results({ goals, rounds: ROUNDS, minutes, cpu: cpus() });
if (chosen.length === 0) await writeFile(new URL('../RESULTS.md', import.meta.url), text);
console.log(text);
process.exit(0);

async function startAndRest() {
  say('start and rest');
  const postgres = await startPostgres();
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`s${i}`, stdioUpstream]));
  const kinds = {
    'embedded, no server': () => startProduct({}),
    'PostgreSQL, no server': async (round) =>
      startProduct({}, await postgres.newDatabase(`start_${round}`)),
    'embedded, 50 STDIO servers': () => startProduct(many, limits),
  };
  const found = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
  // The first start migrates the database; the second measures a restart.
  for (let round = 0; round < 3; round++) {
    for (const [name, begin] of Object.entries(kinds)) {
      const service = await begin(round);
      const connected = name.includes('50') ? await whenConnected(service, 50) : undefined;
      if (!connected) await pause(3_000);
      found[name].push({ ready: service.readyMs, rss: rssMb(service.pid), connected });
      await service.stop();
    }
  }
  await postgres.stop();
  const of = (name, field) => median(found[name].map((each) => each[field]));
  table(
    'Start and rest, medians of three fresh starts',
    ['', 'start to ready ms', 'RSS at rest MB', 'all servers connected ms'],
    Object.keys(kinds).map((name) => [
      name,
      of(name, 'ready'),
      of(name, 'rss'),
      of(name, 'connected'),
    ]),
  );
  const [embedded, onPostgres, fifty] = Object.keys(kinds);
  goal('start to ready, embedded, no server', '≤', 2_500, of(embedded, 'ready'), 'ms');
  goal('start to ready, PostgreSQL, no server', '≤', 1_500, of(onPostgres, 'ready'), 'ms');
  goal('start to ready, embedded, 50 STDIO servers', '≤', 2_500, of(fifty, 'ready'), 'ms');
  goal('RSS at rest, embedded, local model', '≤', 200, of(embedded, 'rss'), 'MB');
}

async function whenConnected(service, servers) {
  const started = performance.now() - service.readyMs;
  await until(async () => {
    const report = await (await fetch(`${service.origin}/health`)).json();
    return report.servers.connected === servers;
  });
  return performance.now() - started;
}

async function memoryAfterCalls() {
  say('memory after calls');
  const service = await startProduct({ up0: { url: upstream.url } });
  await settled(service, 10);
  const tool = 'up0__echo_0';
  await pause(3_000);
  const rows = [];
  const note = (when) => rows.push([when, rssMb(service.pid)]);
  note('at rest, 3 s after its start');
  await measure(service, { tool, connections: 16, calls: 10_000, exactly: true });
  note('right after 10,000 calls');
  await measure(service, { tool, connections: 64, calls: 90_000, exactly: true });
  note('right after 100,000 calls');
  await pause(30_000);
  note('at rest again, 30 s later');
  // By then the garbage of the start has been collected, so this difference is the larger one.
  await measure(service, { tool, connections: 64, calls: 100_000, exactly: true });
  await pause(30_000);
  note('30 s after 100,000 more');
  await service.stop();
  table('Memory of the service with one server', ['', 'RSS MB'], rows);
  goal('RSS at rest after 100,000 calls − before', '≤', 10, rows[3][1] - rows[0][1], 'MB');
}

async function calls() {
  const tool = 'up0__echo_0';
  const floor = await startFloor('floor-http', upstream.url);
  const sdk = await startFloor('sdk-gateway', upstream.url);
  const rest = { mode: 'rest', tool: 'up0.echo_0' };
  const targets = {
    direct: { ...upstream, tool: 'echo_0' },
    'floor:http+undici': { ...floor, tool },
    switchboard: { ...product, tool },
    'sdk1-gateway': { ...sdk, tool },
  };
  const overRest = {
    'switchboard REST': { ...product, ...rest, url: `${product.origin}/api/v1/tools/call` },
    'floor REST': { ...floor, mode: 'rest', tool, url: floor.url.replace('/mcp', '/rest') },
  };
  const rows = [];
  let errors = 0;
  for (const connections of [64, 16, 1]) {
    say(`calls, ${connections} connections`);
    const all = connections === 64 ? { ...targets, ...overRest } : targets;
    for (const target of Object.values(all)) await measure(target, { connections, seconds: 0.5 });
    const found = await interleaved(all, { connections, seconds: SECONDS }, ROUNDS);
    for (const [name, runs] of Object.entries(found)) {
      const of = (field) => median(runs.map((run) => run[field]));
      rows.push([connections, name, of('perSecond'), of('p50'), of('p99'), of('cpu')]);
      errors += runs.reduce((sum, run) => sum + run.errors, 0);
    }
    const {
      direct,
      switchboard: ours,
      'floor:http+undici': least,
      'sdk1-gateway': usual,
      'switchboard REST': ourRest,
    } = found;
    const many = `${connections} connections`;
    if (connections > 1) {
      goal(`calls/s ÷ floor, ${many}`, '≥', 0.65, ratio(ours, least, 'perSecond'), '×');
      goal(`calls/s ÷ sdk1-gateway, ${many}`, '≥', 8, ratio(ours, usual, 'perSecond'), '×');
    } else {
      const added = (runs) => median(runs.map((run, round) => run.p50 - direct[round].p50));
      goal('added p50 ÷ the added p50 of the floor', '≤', 2, added(ours) / added(least), '×');
      goal('p99 ÷ direct, 1 connection', '≤', 3, ratio(ours, direct, 'p99'), '×');
    }
    if (ourRest) {
      goal(`CPU a call ÷ floor, ${many}`, '≤', 1.7, ratio(ours, least, 'cpu'), '×');
      goal(`REST ÷ MCP, calls/s, ${many}`, '≥', 0.85, ratio(ourRest, ours, 'perSecond'), '×');
    }
  }
  table(
    'Calls (`tools/call`, Streamable HTTP upstream)',
    ['connections', 'target', 'calls/s', 'p50 ms', 'p99 ms', 'CPU µs a call'],
    rows,
  );
  goal('failed calls', '≤', 0, errors, '');
  await floor.stop();
  await sdk.stop();
}

async function largeAnswers() {
  say('answers of 1 MB');
  const floor = await startFloor('floor-http', upstream.url);
  const targets = {
    direct: { ...upstream, tool: 'echo_1' },
    'floor:http+undici': { ...floor, tool: 'up0__echo_1' },
    switchboard: { ...product, tool: 'up0__echo_1' },
  };
  const found = await interleaved(targets, { connections: 8, seconds: SECONDS }, ROUNDS);
  table(
    'Answers of 1 MB, 8 connections',
    ['target', 'calls/s', 'p50 ms', 'CPU µs a call'],
    Object.entries(found).map(([name, runs]) => [
      name,
      ...['perSecond', 'p50', 'cpu'].map((field) => median(runs.map((run) => run[field]))),
    ]),
  );
  const share = ratio(found.switchboard, found['floor:http+undici'], 'perSecond');
  goal('calls/s ÷ floor, answers of 1 MB', '≥', 0.6, share, '×');
  await floor.stop();
}

async function longLists() {
  say('lists of 10,000 tools');
  const tools = 10_000;
  const long = await startUpstream(tools, 1_000);
  const floor = await startFloor('floor-http', long.url);
  const ours = await startProduct({ up0: { url: long.url } }, limits);
  await settled(ours, tools);
  const plan = { mode: 'list', tools, calls: 10 };
  const found = await interleaved({ floor, switchboard: ours }, plan, ROUNDS);
  table(
    'The whole list of 10,000 tools, all pages',
    ['target', 'p50 ms', 'p99 ms'],
    Object.entries(found).map(([name, runs]) => [
      name === 'floor' ? 'floor:http+undici' : name,
      median(runs.map((run) => run.p50)),
      median(runs.map((run) => run.p99)),
    ]),
  );
  const share = ratio(found.switchboard, found.floor, 'p50');
  goal('tools/list of 10,000 tools, p50 ÷ floor', '≤', 1.2, share, '×');
  await Promise.all([long, floor, ours].map((each) => each.stop()));
}

async function manyTools() {
  say('100,000 tools');
  const long = await startUpstream(TOOLS_OF_EACH);
  const servers = Array.from({ length: MANY_SERVERS }, (_, i) => [`up${i}`, { url: long.url }]);
  const ours = await startProduct(Object.fromEntries(servers), limits);
  await settled(ours, MANY_SERVERS * TOOLS_OF_EACH);
  const tool = 'up0__echo_0';
  const targets = { few: { ...product, tool }, many: { ...ours, tool } };
  for (const target of Object.values(targets))
    await measure(target, { connections: 64, seconds: 1 });
  const plan = { connections: 64, seconds: SECONDS };
  const found = await interleaved(targets, plan, ROUNDS);
  const session = await openSession(ours.url, AUTH);
  await listTools(session);
  const watch = watchLoop(ours);
  const list = await listTools(session);
  const slowest = await watch();
  await session.close();
  table(
    '100,000 tools',
    ['', ''],
    [
      ['pages of the list', list.pages],
      ['slowest page ms', list.slowestMs],
      ['slowest other request meanwhile ms', slowest],
      ['RSS MB', rssMb(ours.pid)],
    ],
  );
  const share = ratio(found.many, found.few, 'perSecond');
  goal('calls/s with 100,000 tools ÷ with 10', '≥', 0.95, share, '×');
  goal('slowest other request while 100,000 tools are listed', '≤', 50, slowest, 'ms');
  await long.stop();
  await ours.stop();
}

/** Sends trivial requests continuously: a delay is a blocked event loop. */
function watchLoop({ origin }) {
  const connection = new Connection(origin);
  const request = `${headOf(`${origin}/health/live`, {}, 'GET')}\r\n`;
  let slowest = 0;
  let over = false;
  const watching = (async () => {
    while (!over) {
      const sent = performance.now();
      await connection.ask(request);
      slowest = Math.max(slowest, performance.now() - sent);
      await pause(2);
    }
    connection.close();
  })();
  return async () => {
    over = true;
    await watching;
    return slowest;
  };
}

async function overStdio() {
  say('STDIO upstream');
  const floor = await startFloor('floor-stdio', '');
  const ours = await startProduct({ up0: stdioUpstream });
  await settled(ours, 10);
  const tool = 'up0__echo_0';
  const targets = { floor: { ...floor, tool }, switchboard: { ...ours, tool } };
  const rows = [];
  for (const connections of [64, 1]) {
    for (const target of Object.values(targets)) await measure(target, { connections, seconds: 1 });
    const found = await interleaved(targets, { connections, seconds: SECONDS }, ROUNDS);
    for (const [name, runs] of Object.entries(found)) {
      const label = name === 'floor' ? 'stdio-floor:nest-fastify+cqrs+lines' : name;
      const of = (field) => median(runs.map((run) => run[field]));
      rows.push([connections, label, of('perSecond'), of('p50'), of('p99'), of('cpu')]);
    }
    const field = connections === 64 ? 'cpu' : 'p50';
    const what = connections === 64 ? 'CPU a call, 64 connections' : 'p50, 1 connection';
    const share = ratio(found.switchboard, found.floor, field);
    goal(`STDIO upstream ÷ its floor, ${what}`, '≤', 1.5, share, '×');
  }
  table(
    'Calls, STDIO upstream',
    ['connections', 'target', 'calls/s', 'p50 ms', 'p99 ms', 'CPU µs a call'],
    rows,
  );
  await floor.stop();
  await ours.stop();
}
