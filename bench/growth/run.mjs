// npm run bench:growth: cost by number of tools and servers; writes ../GROWTH.md and ../growth.svg.
// npm run bench:growth -- <tools>…: only these numbers of tools, and only on standard output.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { say, tableOf } from '../calls/report.mjs';
import { grow } from './grow.mjs';
import { plot } from './plot.mjs';

const TOOLS_OF_A_SERVER = 1_000;
const SIZES = [10, 100, 1_000, 10_000, 20_000, 40_000, 100_000];
const columns = {
  settledS: 'settled s',
  cpuS: 'processor s',
  growing: 'block growing ms',
  deleting: 'block deleting ms',
  restartMs: 'restart ms',
  restarting: 'block after restart ms',
  rss: 'RSS MB',
  searchP50: 'search p50 ms',
  searchP95: 'search p95 ms',
  list: 'first page of the list ms',
  calls: 'calls/s',
};
const keys = Object.keys(columns);
const names = Object.values(columns);

const asked = process.argv.slice(2).map(Number);
const byTools = [];
for (const tools of asked.length > 0 ? asked : SIZES) {
  const servers = Math.ceil(tools / TOOLS_OF_A_SERVER);
  byTools.push([tools, servers, ...(await rowOf(servers, tools / servers))]);
}
const table = tableOf(['tools', 'servers', ...names], byTools).join('\n');
if (asked.length > 0) console.log(table);
else await report();
process.exit(0);

async function report() {
  const byServers = [];
  for (const servers of [1, 10, 50, 200]) byServers.push([servers, ...(await rowOf(servers, 10))]);
  const text = `# Growth

Written by \`npm run bench:growth\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}; embedded database and model. \`npm run bench:growth -- 100000\` measures one size; with \`DATABASE_URL\` of an empty database it uses PostgreSQL.

*Settled*: from the start of the process until all tools are registered, indexed and classified. *Processor*: used until then. *Block*: the longest turn of the event loop, in processor time of the main thread, while servers are registered, while five are deleted, and after a restart. *Restart*: the start of a service that knows all of it, until it is ready. Calls at 64 connections.

${table}

${tableOf(['servers of 10 tools', ...names], byServers).join('\n')}

![by number of tools](growth.svg)
`;
  await writeFile(new URL('../GROWTH.md', import.meta.url), text);
  const series = keys.map((key, i) => [columns[key], byTools.map((row) => [row[0], row[i + 2]])]);
  const drawn = ['settledS', 'restartMs', 'rss', 'searchP95', 'calls'].map((key) => columns[key]);
  const svg = plot(series.filter(([name]) => drawn.includes(name)));
  await writeFile(new URL('../growth.svg', import.meta.url), svg);
  console.log(text);
}

async function rowOf(servers, tools) {
  say(`${servers} servers of ${tools} tools`);
  const figures = await grow(servers, tools);
  return keys.map((key) => figures[key]);
}
