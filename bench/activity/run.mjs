// npm run bench:activity: CPU of a call without a listener, with five, and the memory of listeners that do not read.
// What a call costs beside another checkout: npm run bench:compare.
import { request } from 'node:http';
import { measure, median } from '../calls/measure.mjs';
import { AUTH, pause, rssMb, settled, startProduct, startUpstream } from '../calls/processes.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 24);
const LISTENERS = 5;
const STUCK = 40;
const plan = { connections: 64, seconds: 1 };

const upstream = await startUpstream(10);
const started = await startProduct({ up0: { url: upstream.url } });
await settled(started, 10);
const product = { ...started, tool: 'up0__echo_0' };
await measure(product, { ...plan, seconds: 3 });

// Listeners come and go at one process: two processes differ by more than what is measured here.
const found = { 'no listener': [], 'five listeners': [] };
let frames = 0;
for (let round = 0; round < ROUNDS; round++) {
  for (const name of round % 2 === 0 ? Object.keys(found) : Object.keys(found).reverse()) {
    const heard = [];
    if (name === 'five listeners') {
      for (let n = 0; n < LISTENERS; n++) heard.push(await listen(product));
    }
    found[name].push(await measure(product, plan));
    for (const listener of heard) frames += listener.close();
  }
}
const silent = found['no listener'];
console.log('| service | calls/s | CPU µs a call | CPU ÷ no listener |');
console.log('| --- | --- | --- | --- |');
for (const [name, runs] of Object.entries(found)) {
  const ratios = runs.map((run, round) => run.cpu / silent[round].cpu);
  const of = (field) => median(runs.map((run) => run[field])).toFixed(1);
  console.log(`| ${name} | ${of('perSecond')} | ${of('cpu')} | ${median(ratios).toFixed(3)} |`);
}
console.log(`each listener heard ${(frames / LISTENERS / ROUNDS).toFixed(0)} frames a round`);

await pause(2_000);
const before = rssMb(product.pid);
for (let n = 0; n < STUCK; n++) (await listen(product)).pause();
await measure(product, { ...plan, seconds: 15 });
const grown = rssMb(product.pid) - before;
console.log(
  `${STUCK} listeners that do not read: ${grown.toFixed(1)} MB, ${(grown / STUCK).toFixed(2)} MB each (RSS, with the garbage of calls)`,
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
        resolve({
          pause: () => answer.pause(),
          close: () => {
            answer.destroy();
            return frames;
          },
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}
