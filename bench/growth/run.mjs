// npm run bench:growth: cost by number of tools and servers; writes ../GROWTH.md and ../growth.svg.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { requestOf } from '../calls/http-connection.mjs';
import { measure, median } from '../calls/measure.mjs';
import { openSession } from '../calls/mcp-client.mjs';
import { AUTH, rssMb, settled, startProduct, startUpstream } from '../calls/processes.mjs';
import { say, tableOf } from '../calls/report.mjs';
import { plot } from './plot.mjs';

const TOOLS_OF_A_SERVER = 1_000;
const ROUNDS = 5;
const env = { MCP_AGGREGATOR_MAX_TOOLS: '1000000', MCP_AGGREGATOR_MAX_SERVERS: '500' };
const columns = ['calls/s', 'first page of the list ms', 'search ms', 'RSS MB', 'restart ms'];

const byTools = [];
for (const tools of [10, 100, 1_000, 10_000, 100_000]) {
  const servers = Math.ceil(tools / TOOLS_OF_A_SERVER);
  byTools.push([tools, servers, ...(await grown(servers, tools / servers))]);
}
const byServers = [];
for (const servers of [1, 10, 50, 200]) byServers.push([servers, ...(await grown(servers, 10))]);

const text = `# Growth

Written by \`npm run bench:growth\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}; embedded database and model, medians of ${ROUNDS} runs. Calls at 64 connections; restart is the start of a service that knows all of it, until it is ready.

${tableOf(['tools', 'servers', ...columns], byTools).join('\n')}

${tableOf(['servers of 10 tools', ...columns], byServers).join('\n')}

![calls, lists, searches, memory and restart by number of tools](growth.svg)
`;
await writeFile(new URL('../GROWTH.md', import.meta.url), text);
const series = columns.map((name, i) => [name, byTools.map((row) => [row[0], row[i + 2]])]);
await writeFile(new URL('../growth.svg', import.meta.url), plot(series));
console.log(text);
process.exit(0);

async function grown(servers, tools) {
  say(`${servers} servers of ${tools} tools`);
  const upstream = await startUpstream(tools);
  const named = Array.from({ length: servers }, (_, i) => [`up${i}`, { url: upstream.url }]);
  const first = await startProduct(Object.fromEntries(named), env);
  await settled(first, servers * tools);
  const service = await first.restart();
  await settled(service, servers * tools);
  const rss = rssMb(service.pid);
  const plan = { tool: 'up0__echo_0', connections: 64, seconds: 1 };
  await measure(service, plan);
  const calls = [];
  for (let i = 0; i < ROUNDS; i++) calls.push((await measure(service, plan)).perSecond);
  const session = await openSession(service.url, AUTH);
  const list = await timed(() =>
    session.connection.ask(
      requestOf(
        session.head,
        `{"jsonrpc":"2.0","id":${session.nextId++},"method":"tools/list","params":{}}`,
      ),
    ),
  );
  await session.close();
  const search = await timed(() =>
    service.post('/api/v1/search', { query: 'return the message it was given' }),
  );
  await service.stop();
  await upstream.stop();
  return [median(calls), list, search, rss, service.readyMs];
}

async function timed(work) {
  const times = [];
  for (let i = 0; i < 30; i++) {
    const sent = performance.now();
    await work();
    if (i >= 10) times.push(performance.now() - sent);
  }
  return median(times);
}
