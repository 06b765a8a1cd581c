// npm run bench:search -- [--eval-dir ../shared/eval] [--only metatool,bfcl]
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureLatency } from './latency.mjs';
import { judge, mean, percentile } from './metrics.mjs';
import { startService } from './service.mjs';
import { readSets, readTools } from './sets.mjs';

const strategies = ['direct', 'hierarchical'];

const { values: options } = parseArgs({
  options: {
    'eval-dir': { type: 'string', default: process.env.EVAL_DIR ?? '../shared/eval' },
    only: { type: 'string' },
    'skip-latency': { type: 'boolean', default: false },
  },
});
const folder = options['eval-dir'];
const sets = readSets(folder).filter(
  ({ name }) => !options.only || options.only.split(',').includes(name),
);

const quality = [
  '| set | strategy | queries | R@1 | R@5 | R@10 | NDCG@10 | MRR | p50 ms | p95 ms |',
];
quality.push('|---|---|---|---|---|---|---|---|---|---|');
for (const corpus of new Set(sets.map((set) => set.corpus))) {
  const service = await startService(readTools(folder, corpus));
  for (const set of sets.filter((candidate) => candidate.corpus === corpus)) {
    for (const strategy of strategies) {
      quality.push(await measure(service, set, strategy));
      console.log(quality.at(-1));
    }
  }
  await service.close();
}

async function measure(service, set, strategy) {
  const verdicts = [];
  const times = [];
  for (const { text, relevant } of set.queries) {
    const started = performance.now();
    const { tools } = await service.search({
      query: text.slice(0, 2_000),
      strategy,
      include_schemas: false,
    });
    times.push(performance.now() - started);
    verdicts.push(
      judge(
        tools.map((tool) => tool.name),
        relevant,
      ),
    );
  }
  const figures = ['recall1', 'recall5', 'recall10', 'ndcg10', 'mrr'].map((figure) =>
    (100 * mean(verdicts.map((verdict) => verdict[figure]))).toFixed(1),
  );
  return `| ${[set.name, strategy, set.queries.length, ...figures, percentile(times, 0.5).toFixed(1), percentile(times, 0.95).toFixed(1)].join(' | ')} |`;
}

const latency = options['skip-latency'] ? [] : await measureLatency(folder, sets);
if (!options.only && !options['skip-latency']) {
  await writeFile(
    new URL('../SEARCH.md', import.meta.url),
    `# Search: quality and latency

Written by \`npm run bench:search -- --eval-dir ${folder}\` on Node ${process.version}, ${cpus()[0].model}. Every query went
over REST to the whole service in its default configuration: embedded database, static embedding model, no key, no network.
Figures in per cent; recall counts needs met, a need being met by any of its equivalent tools. Times include HTTP.

## Quality

${quality.join('\n')}

## Latency

${latency.join('\n')}
`,
  );
}
