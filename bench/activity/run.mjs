// npm run bench:activity: CPU of a call without a listener, with five, and the memory of listeners that do not read.
// ACTIVITY_BASE=<another built checkout> compares with that one too, such as the commit before events.
import { request } from 'node:http';
import { join } from 'node:path';
import { interleaved, measure, median } from '../calls/measure.mjs';
import { AUTH, pause, rssMb, settled, startProduct, startUpstream } from '../calls/processes.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 12);
const SECONDS = 2;
const LISTENERS = 5;
const STUCK = 40;
const plan = { connections: 64, seconds: SECONDS };

const upstream = await startUpstream(10);
const servers = { up0: { url: upstream.url } };
const products = {
  'no listener': await startProduct(servers),
  'five listeners': await startProduct(servers),
};
const base = process.env.ACTIVITY_BASE;
if (base) {
  const other = await import(join(base, 'bench/calls/processes.mjs'));
  products['before events'] = await other.startProduct(servers);
}
const targets = {};
for (const [name, product] of Object.entries(products)) {
  await settled(product, 10);
  targets[name] = { ...product, tool: 'up0__echo_0' };
  await measure(targets[name], { ...plan, seconds: 1 });
}
const heard = [];
for (let n = 0; n < LISTENERS; n++) heard.push(await listen(products['five listeners']));

const found = await interleaved(targets, plan, ROUNDS);
const silent = found['no listener'];
console.log('| service | calls/s | CPU µs a call | CPU ÷ no listener |\n| --- | --- | --- | --- |');
for (const [name, runs] of Object.entries(found)) {
  const ratios = runs.map((run, round) => run.cpu / silent[round].cpu);
  const of = (field) => median(runs.map((run) => run[field])).toFixed(1);
  console.log(`| ${name} | ${of('perSecond')} | ${of('cpu')} | ${median(ratios).toFixed(3)} |`);
}
console.log(
  `each listener heard ${(heard.map((one) => one.frames()).reduce((a, b) => a + b) / LISTENERS).toFixed(0)} frames`,
);

const stuck = products['no listener'];
await measure(targets['no listener'], { ...plan, seconds: 3 });
await pause(2_000);
const before = rssMb(stuck.pid);
for (let n = 0; n < STUCK; n++) (await listen(stuck)).pause();
await measure(targets['no listener'], { ...plan, seconds: 15 });
console.log(
  `${STUCK} listeners that do not read: ${(rssMb(stuck.pid) - before).toFixed(1)} MB, ${((rssMb(stuck.pid) - before) / STUCK).toFixed(2)} MB each (RSS, the garbage of the calls included)`,
);
process.exit(0);

/** A listener of all topics that counts frames. */
function listen({ origin }) {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${origin}/api/v1/events`,
      { agent: false, headers: AUTH },
      (answer) => {
        let frames = 0;
        answer.on('error', () => undefined);
        answer.on('data', (bytes) => {
          for (const byte of bytes) if (byte === 10) frames += 1 / 3;
        });
        resolve({ frames: () => frames, pause: () => answer.pause() });
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}
