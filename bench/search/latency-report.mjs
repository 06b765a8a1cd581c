// npm run bench:latency -- [--eval-dir ../shared/eval]: time of a search over REST, and memory; writes ../LATENCY.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { percentile } from './metrics.mjs';
import { queriesOf } from './sets.mjs';

const TOOLS = 10_000;
const DIMENSIONS = { static: 256, minilm: 640 };
const WARM_UP = 100;
const QUERIES = 600;
const program = fileURLToPath(new URL('latency-service.mjs', import.meta.url));
const minilm = new URL('../../libs/vectors/minilm/node_modules', import.meta.url);

const { values: options } = parseArgs({
  options: { 'eval-dir': { type: 'string', default: process.env.EVAL_DIR ?? '../shared/eval' } },
});
const folder = options['eval-dir'];
const queries = queriesOf(folder, QUERIES + WARM_UP);

const rows = [];
const models = existsSync(minilm) ? ['static', 'minilm'] : ['static'];
for (const model of models) rows.push(await measure(model));
const text = `# Latency of a search

Written by \`npm run bench:latency\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}: ${QUERIES} queries of all sets over REST, one after the other, to a service with ${TOOLS} tools in a process of its own; \`minilm\` after \`npm run minilm:install\`. The plain scan compares one vector with those of all tools in JavaScript. The first answer is that of the first request to a service that has just started; with MiniLM it comes from the static model while the other one is loaded.

| model | p50 ms | p95 ms | max ms | plain scan ms | p50 ÷ scan | first answer ms | RSS MB |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
await writeFile(new URL('../LATENCY.md', import.meta.url), text);
console.log(text);
process.exit(0);

async function measure(model) {
  const child = fork(program, [folder, String(TOOLS), model]);
  const [{ url, token }] = await once(child, 'message');
  const search = async (query) => {
    const sent = performance.now();
    const response = await fetch(`${url}/api/v1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query }),
    });
    const { metadata } = await response.json();
    if (!response.ok) throw new Error(`search answered ${response.status}`);
    return { ms: performance.now() - sent, isDegraded: metadata.degraded };
  };
  const first = await search('which tool reads a file');
  while ((await search('is the model ready')).isDegraded) {
    await new Promise((resolve) => {
      setTimeout(resolve, 250);
    });
  }
  const times = [];
  for (const [i, query] of queries.entries()) {
    const { ms, isDegraded } = await search(query);
    if (isDegraded) throw new Error('the model did not answer in time: the machine is too busy');
    if (i >= WARM_UP) times.push(ms);
  }
  child.send('rss');
  const [{ rssMb }] = await once(child, 'message');
  child.disconnect();
  await once(child, 'exit');
  const scan = plainScan(DIMENSIONS[model]);
  const p50 = percentile(times, 0.5);
  const figures = [p50, percentile(times, 0.95), Math.max(...times), scan, p50 / scan, first.ms];
  return `| ${[model, ...figures.map((value) => value.toFixed(1)), rssMb.toFixed(0)].join(' | ')} |`;
}

/** Median time of the dot products of one vector with all, and of finding the largest. */
function plainScan(dimensions) {
  const vectors = Float32Array.from({ length: TOOLS * dimensions }, () => Math.random());
  const times = [];
  for (let round = 0; round < 50; round++) {
    const started = performance.now();
    let best = 0;
    for (let tool = 0; tool < TOOLS; tool++) {
      let product = 0;
      const at = tool * dimensions;
      for (let i = 0; i < dimensions; i++) product += vectors[at + i] * vectors[i];
      best = Math.max(best, product);
    }
    times.push(performance.now() - started);
    if (best === 0) throw new Error('the scan found nothing');
  }
  return percentile(times, 0.5);
}
