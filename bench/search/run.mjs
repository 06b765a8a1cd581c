// npm run bench:search -- [--eval-dir ../shared/eval] [--only metatool,bfcl] [--models static,minilm] [--skip-latency]
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measureLatency } from './latency.mjs';
import { judge, mean, percentile } from './metrics.mjs';
import { referenceSearch } from './reference.mjs';
import { startService } from './service.mjs';
import { readSets, readTools } from './sets.mjs';

const strategies = ['direct', 'hierarchical'];
const minilm = new URL('../../libs/vectors/minilm/node_modules', import.meta.url);

const { values: options } = parseArgs({
  options: {
    'eval-dir': { type: 'string', default: process.env.EVAL_DIR ?? '../shared/eval' },
    only: { type: 'string' },
    models: { type: 'string', default: existsSync(minilm) ? 'static,minilm' : 'static' },
    'skip-latency': { type: 'boolean', default: false },
  },
});
const folder = options['eval-dir'];
const sets = readSets(folder).filter(
  ({ name }) => !options.only || options.only.split(',').includes(name),
);
const corpora = [...new Set(sets.map((set) => set.corpus))];

const quality = [];
const note = (row) => {
  quality.push(row);
  console.log(row);
};
for (const corpus of corpora) {
  const tools = readTools(folder, corpus);
  const ofCorpus = sets.filter((set) => set.corpus === corpus);
  const reference = referenceSearch(tools);
  for (const set of ofCorpus) {
    note(await measure(set, ['reference', '–'], (query) => reference(query)));
  }
  for (const model of options.models.split(',')) {
    const service = await startService(tools, { EMBEDDINGS_LOCAL_MODEL: model });
    for (const set of ofCorpus) {
      for (const strategy of strategies) {
        note(
          await measure(set, [model, strategy], async (query) => {
            const found = await whole(service, { query, strategy, include_schemas: false });
            return found.tools.map((tool) => tool.name);
          }),
        );
      }
    }
    await service.close();
  }
}

/**
 * On a busy machine a model may exceed its deadline and is then skipped for ten seconds: those results would be lexical
 * only.
 */
async function whole(service, request) {
  for (let attempt = 1; ; attempt++) {
    const found = await service.search(request);
    if (!found.metadata.degraded) return found;
    if (attempt === 5) throw new Error(found.metadata.degraded_reason);
    await setTimeout(11_000);
  }
}

async function measure(set, labels, search) {
  const verdicts = [];
  const times = [];
  for (const { text, relevant } of set.queries) {
    const started = performance.now();
    const found = await search(text.slice(0, 2_000));
    times.push(performance.now() - started);
    verdicts.push(judge(found, relevant));
  }
  const figures = ['recall1', 'recall5', 'recall10', 'ndcg10', 'mrr'].map((figure) =>
    (100 * mean(verdicts.map((verdict) => verdict[figure]))).toFixed(1),
  );
  const latency = [0.5, 0.95].map((share) => percentile(times, share).toFixed(1));
  return `| ${[set.name, ...labels, set.queries.length, ...figures, ...latency].join(' | ')} |`;
}

const latency = options['skip-latency'] ? [] : await measureLatency(folder, sets);
if (!options.only && !options['skip-latency']) {
  await writeFile(
    new URL('../SEARCH.md', import.meta.url),
    `# Search: quality and latency

Written by \`npm run bench:search -- --eval-dir ${folder}\` on Node ${process.version}, ${cpus()[0].model}. Queries went over
REST to the whole service: embedded database, no key, no network. \`static\` is the default configuration, \`minilm\` the
same with \`EMBEDDINGS_LOCAL_MODEL=minilm\`. \`reference\` is the row "static + BM25F, convex, + clauses" of the data's own
README, made again on these queries by \`bench/search/reference.mjs\`; it has no service around it, so its times say nothing.
Figures in per cent; recall counts needs met, a need being met by any of its equivalent tools. Times include HTTP.

## Quality

| set | model | strategy | queries | R@1 | R@5 | R@10 | NDCG@10 | MRR | p50 ms | p95 ms |
|---|---|---|---|---|---|---|---|---|---|---|
${sets.flatMap(({ name }) => quality.filter((row) => row.startsWith(`| ${name} `))).join('\n')}

## Latency

All sets together, repeated under other server names until there are so many tools.

${latency.join('\n')}
`,
  );
}
