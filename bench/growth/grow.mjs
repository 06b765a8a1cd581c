// One service that grows: what it costs to register, to delete and to restart with many tools.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestOf } from '../calls/http-connection.mjs';
import { measure, median } from '../calls/measure.mjs';
import { openSession } from '../calls/mcp-client.mjs';
import { AUTH, cpuMs, pause, rssMb, startProduct, startUpstream } from '../calls/processes.mjs';

const ROUNDS = 5;
const DELETED = 5;
const QUERIES = 400;
const WARM_UP = 50;
const watch = new URL('watch-loop.mjs', import.meta.url).href;

/** Figures of one service with so many servers, each of so many tools. */
export async function grow(servers, tools, settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-growth-'));
  const loop = new LoopWatch(join(folder, 'loop.json'));
  const upstream = await startUpstream(tools);
  const named = Array.from({ length: servers }, (_, i) => [`up${i}`, { url: upstream.url }]);
  const started = Date.now();
  const first = await startProduct(Object.fromEntries(named), {
    MCP_AGGREGATOR_MAX_TOOLS: '1000000',
    MCP_AGGREGATOR_MAX_SERVERS: '500',
    ...loop.env,
    ...settings,
  });
  const ready = Date.now();
  const settledAt = await settled(first, servers * tools);
  const figures = {
    settledS: (settledAt - started) / 1_000,
    cpuS: cpuMs(first.pid) / 1_000,
    growing: await loop.longestSince(ready),
  };
  const deleting = Date.now();
  const gone = Math.min(DELETED, servers - 1);
  await remove(first, gone);
  figures.deleting = await loop.longestSince(deleting);
  const service = await first.restart();
  figures.restartMs = service.readyMs;
  const again = Date.now();
  await settled(service, (servers - gone) * tools);
  figures.restarting = await loop.longestSince(again);
  figures.rss = rssMb(service.pid);
  Object.assign(figures, await used(service));
  await service.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
  return figures;
}

async function remove(service, count) {
  const { servers } = await service.get(`/api/v1/aggregator/servers?limit=${count + 1}`);
  for (const { id } of servers.slice(0, count)) {
    await fetch(`${service.origin}/api/v1/aggregator/servers/${id}`, {
      method: 'DELETE',
      headers: AUTH,
    });
  }
}

/** Calls, lists and searches. */
async function used(service) {
  const { tools } = await service.get('/api/v1/aggregator/tools?limit=1');
  const plan = { tool: tools[0].name.replace('.', '__'), connections: 64, seconds: 1 };
  await measure(service, plan);
  const calls = [];
  for (let i = 0; i < ROUNDS; i++) calls.push((await measure(service, plan)).perSecond);
  const session = await openSession(service.url, AUTH);
  const ask = '"method":"tools/list","params":{}}';
  const lists = await timed(30, 10, () =>
    session.connection.ask(
      requestOf(session.head, `{"jsonrpc":"2.0","id":${session.nextId++},${ask}`),
    ),
  );
  await session.close();
  const searches = await timed(QUERIES, WARM_UP, (i) =>
    service.post('/api/v1/search', { query: `return the message number ${i} as it was given` }),
  );
  return {
    calls: median(calls),
    list: median(lists),
    searchP50: at(searches, 0.5),
    searchP95: at(searches, 0.95),
  };
}

async function timed(count, warmUp, work) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const sent = performance.now();
    await work(i);
    if (i >= warmUp) times.push(performance.now() - sent);
  }
  return times;
}

const at = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];

/** The time when all tools are listed and background work is done: no processor time for a second. */
async function settled(service, tools) {
  while ((await service.get('/api/v1/aggregator/tools?limit=1')).total < tools) await pause(200);
  let since = Date.now();
  for (let used = cpuMs(service.pid); Date.now() - since < 1_000;) {
    await pause(100);
    const now = cpuMs(service.pid);
    if (now - used > 20) since = Date.now();
    used = now;
  }
  return since;
}

/** Blocks of the event loop of the services that are started with `env`, as watch-loop.mjs records them. */
class LoopWatch {
  constructor(file) {
    this.file = file;
    const options = [process.env.NODE_OPTIONS, `--import=${watch}`].filter(Boolean);
    this.env = { NODE_OPTIONS: options.join(' '), LOOP_WATCH_FILE: file };
  }

  /** In milliseconds of processor time. */
  async longestSince(time) {
    await pause(700); // written twice a second
    if (!existsSync(this.file)) throw new Error(`${watch} recorded nothing`);
    const blocks = JSON.parse(readFileSync(this.file, 'utf8'));
    return Math.max(0, ...blocks.filter(({ at }) => at >= time).map(({ cpuMs }) => cpuMs));
  }
}
