// npm run bench:replicas: one and two replicas on one PostgreSQL behind one address; writes ../REPLICAS.md.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { interleaved, measure, median } from '../calls/measure.mjs';
import { startPostgres } from '../calls/postgres.mjs';
import {
  cpuMs,
  freePort,
  pause,
  rssMb,
  settled,
  start,
  startProduct,
  startUpstream,
} from '../calls/processes.mjs';
import { say, tableOf } from '../calls/report.mjs';

const ROUNDS = 5;
const tool = 'up0__echo_0';
const postgres = await startPostgres();
const database = await postgres.newDatabase('replicas');
const upstream = await startUpstream(10);
const replicas = [];
for (let i = 0; i < 2; i++) {
  replicas.push(await startProduct({ up0: { url: upstream.url } }, database));
  await settled(replicas[i], 10);
}
const [first] = replicas;
const one = await behind([first]);
const two = await behind(replicas);
const targets = {
  'one, its own address': { ...first, tool },
  'one, behind the balancer': { ...one, tool },
  'two, behind the balancer': { ...two, tool },
};
say('replicas');
for (const target of Object.values(targets)) await measure(target, { connections: 64, seconds: 2 });
const all = [...replicas.map(({ pid }) => pid), one.balancer, two.balancer];
const before = all.map(cpuMs);
const found = await interleaved(targets, { connections: 64, seconds: 1, pids: all }, ROUNDS);
const busy = all.map((pid, i) => cpuMs(pid) - before[i]);
await pause(20_000);
const text = `# Replicas

Written by \`npm run bench:replicas\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}; replicas on one PostgreSQL, 64 connections, medians of ${ROUNDS} interleaved rounds. Load generator, upstream and PostgreSQL run on the same cores.

${tableOf(
  ['replicas', 'calls/s', 'p50 ms', 'p99 ms', 'failed'],
  Object.entries(found).map(([name, runs]) => [
    name,
    ...['perSecond', 'p50', 'p99'].map((field) => median(runs.map((run) => run[field]))),
    runs.reduce((sum, run) => sum + run.errors, 0),
  ]),
).join('\n')}

${tableOf(
  ['', 'RSS at rest again MB', 'CPU s in all rounds'],
  ['leading replica', 'second replica', 'balancer of one', 'balancer of two'].map((name, i) => [
    name,
    rssMb(all[i]),
    busy[i] / 1_000,
  ]),
).join('\n')}
`;
await writeFile(new URL('../REPLICAS.md', import.meta.url), text);
console.log(text);
for (const replica of replicas) await replica.stop();
await postgres.stop();
process.exit(0);

async function behind(services) {
  const port = await freePort();
  const ports = services.map(({ url }) => new URL(url).port);
  const file = fileURLToPath(new URL('balancer.mjs', import.meta.url));
  const { pid } = start([file, String(port), ...ports]);
  await pause(300);
  return { url: `http://127.0.0.1:${port}/mcp`, headers: first.headers, balancer: pid };
}
