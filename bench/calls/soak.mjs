// npm run bench:soak: ten minutes at 1,000 calls per second; errors, memory and loop delay; writes ../SOAK.md. `node
// bench/calls/soak.mjs MINUTES [CALLS PER SECOND]` runs for that long, and writes nothing.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { measure } from './measure.mjs';
import { AUTH, pause, rssMb, settled, startProduct, startUpstream } from './processes.mjs';
import { tableOf } from './report.mjs';

const [minutes = 10, perSecond = 1_000] = process.argv.slice(2).map(Number);
const SAMPLES = 20;
const upstream = await startUpstream(10);
const product = await startProduct({ up0: { url: upstream.url } });
await settled(product, 10);
await loopDelay();
const rows = [['at rest', rssMb(product.pid), undefined, undefined]];
const seconds = minutes * 60;
const plan = { tool: 'up0__echo_0', connections: 16, seconds, perSecond };
const load = measure(product, plan);
for (let i = 1; i <= SAMPLES; i++) {
  await pause((seconds / SAMPLES) * 1_000);
  const minute = ((i * minutes) / SAMPLES).toFixed(1);
  rows.push([`minute ${minute}`, rssMb(product.pid), ...(await loopDelay())]);
}
const result = await load;
await pause(30_000);
rows.push(['at rest again', rssMb(product.pid), ...(await loopDelay())]);
const cores = cpus();
const text = `# Ten minutes

Written by \`npm run bench:soak\` on Node ${process.version}, ${cores.length} × ${cores[0].model.split(' ').slice(0, 2).join(' ')}; one HTTP server, 16 connections; embedded database, authentication, metrics and audit on. The delays are those that the service measures of itself, in steps of 10 ms, over the time since the line before.

${tableOf(['', 'RSS MB', 'loop delay p99 ms', 'max ms'], rows).join('\n')}

${result.calls} calls, ${result.perSecond.toFixed(0)} a second, ${result.errors} errors, p50 ${result.p50.toFixed(2)} ms, p99 ${result.p99.toFixed(2)} ms.
`;
if (process.argv.length === 2) await writeFile(new URL('../SOAK.md', import.meta.url), text);
console.log(text);
await product.stop();
process.exit(0);

/** Since the previous reading. */
async function loopDelay() {
  const text = await (await fetch(`${product.origin}/metrics`, { headers: AUTH })).text();
  const of = (name) =>
    Number(
      new RegExp(`^\\S*nodejs_eventloop_lag_${name}(?:\\{.*\\})? (\\S+)`, 'm').exec(text)?.[1],
    ) * 1_000;
  return [of('p99_seconds'), of('max_seconds')];
}
