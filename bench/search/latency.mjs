import { percentile } from './metrics.mjs';
import { useEveryTool } from './learning.mjs';
import { startService } from './service.mjs';
import { readTools, repeated, sample } from './sets.mjs';

const SIZES = [10_000, 100_000];
/** The most whose uses are kept are 20,000. */
const SIZE_WITH_USES = 10_000;
const QUERIES = 400;
const WARM_UP = 50;

/** All sets together, repeated under other server names up to the number of tools. */
export async function measureLatency(folder, sets) {
  const corpora = [...new Set(sets.map((set) => set.corpus))];
  const tools = corpora.flatMap((corpus) => readTools(folder, corpus));
  const queries = sample(
    sets.flatMap((set) => set.queries.map((query) => query.text.slice(0, 2_000))),
    QUERIES + WARM_UP,
  );
  const lines = [
    '| tools | catalogue and words s | vectors made and stored s | p50 ms | p95 ms | max ms |',
    '|---|---|---|---|---|---|',
  ];
  for (const size of SIZES) {
    const service = await startService(repeated(tools, size));
    const { catalogueMs, vectorsMs } = service;
    const seconds = [catalogueMs, vectorsMs].map((ms) => (ms / 1000).toFixed(2));
    lines.push(rowOf(size, seconds, await timesOf(service, queries)));
    console.log(lines.at(-1));
    if (size === SIZE_WITH_USES) {
      await useEveryTool(service, queries);
      lines.push(rowOf(`${size}, each used`, ['', ''], await timesOf(service, queries)));
      console.log(lines.at(-1));
    }
    await service.close();
  }
  return lines;
}

async function timesOf(service, queries) {
  const times = [];
  for (const [i, query] of queries.entries()) {
    const sent = performance.now();
    await service.search({ query });
    if (i >= WARM_UP) times.push(performance.now() - sent);
  }
  return times;
}

function rowOf(label, seconds, times) {
  const latency = [percentile(times, 0.5), percentile(times, 0.95), Math.max(...times)];
  return `| ${[label, ...seconds, ...latency.map((ms) => ms.toFixed(1))].join(' | ')} |`;
}
