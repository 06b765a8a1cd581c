// npm run bench:search -- [--eval-dir ../shared/eval] [--only metatool,bfcl] [--models static,minilm] [--skip-latency]
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measureLatency } from './latency.mjs';
import { learningCurve, learningTable } from './learning.mjs';
import { judge, mean, percentile } from './metrics.mjs';
import { fitCurve } from './fit.mjs';
import { rivals } from './reference.mjs';
import { startService } from './service.mjs';
import { readSets, readTools } from './sets.mjs';
import { spellingCurve } from './spelling.mjs';

const strategies = ['direct', 'hierarchical'];
const minilm = new URL('../../libs/vectors/minilm/node_modules', import.meta.url);

const { values: options } = parseArgs({
  options: {
    'eval-dir': { type: 'string', default: process.env.EVAL_DIR ?? '../shared/eval' },
    only: { type: 'string' },
    models: { type: 'string', default: existsSync(minilm) ? 'static,minilm' : 'static' },
    'skip-latency': { type: 'boolean', default: false },
    /** The curves of spelling and learning only. */
    'curves-only': { type: 'boolean', default: false },
  },
});
const folder = options['eval-dir'];
const sets = readSets(folder).filter(
  ({ name }) => !options.only || options.only.split(',').includes(name),
);
const corpora = [...new Set(sets.map((set) => set.corpus))];

const quality = [];
const fits = [];
const spelling = [];
const learnt = [];
const note = (row) => {
  quality.push(row);
  console.log(row);
};
for (const corpus of corpora) {
  const tools = readTools(folder, corpus);
  const ofCorpus = sets.filter((set) => set.corpus === corpus);
  const others = rivals(tools);
  for (const [rival, search] of Object.entries(others)) {
    if (options['curves-only']) break;
    for (const set of ofCorpus) await measure(set, [rival, '–'], search);
  }
  for (const model of options.models.split(',')) {
    const service = await startService(tools, { EMBEDDINGS_LOCAL_MODEL: model });
    if (model === 'static') for (const set of ofCorpus) await drawCurves(set, service, others);
    for (const set of options['curves-only'] ? [] : ofCorpus) {
      for (const strategy of strategies) {
        await measure(set, [model, strategy], async (query) => {
          const found = await whole(service, { query, strategy, include_schemas: false });
          return found.tools.map((tool) => tool.name);
        });
      }
      if (set.unserved.length > 0) {
        fits.push(
          `### ${set.name}, ${model}`,
          ...(await fitCurve(set, (body) => whole(service, body))),
        );
        console.log(fits.join('\n'));
      }
    }
    await service.close();
  }
}

async function drawCurves(set, service, { bm25, minisearch }) {
  const direct = async (query) => {
    const found = await whole(service, { query, strategy: 'direct', include_schemas: false });
    return found.tools.map((tool) => tool.name);
  };
  spelling.push(...(await spellingCurve(set, [direct, bm25, minisearch])));
  // The hand-written set has a query or two for a tool.
  if (set.queries.every(({ kind }) => kind === undefined))
    learnt.push(...(await learningCurve(set, service)));
  console.log([...spelling, ...learningTable(learnt)].join('\n'));
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

/** A row for the set, and one for each kind of its queries. */
async function measure(set, labels, search) {
  const judged = [];
  for (const { text, relevant, kind } of set.queries) {
    const started = performance.now();
    const found = await search(text.slice(0, 2_000));
    judged.push({ kind, ms: performance.now() - started, ...judge(found, relevant) });
  }
  note(rowOf(set.name, labels, judged));
  const kinds = [...new Set(judged.flatMap(({ kind }) => kind ?? []))];
  for (const kind of kinds) {
    const ofKind = judged.filter((one) => one.kind === kind);
    note(rowOf(`${set.name}: ${kind}`, labels, ofKind));
  }
}

function rowOf(name, labels, judged) {
  const figures = ['recall1', 'recall5', 'recall10', 'ndcg10', 'mrr'].map((figure) =>
    (100 * mean(judged.map((one) => one[figure]))).toFixed(1),
  );
  const times = judged.map(({ ms }) => ms);
  const latency = [0.5, 0.95].map((share) => percentile(times, share).toFixed(1));
  return `| ${[name, ...labels, judged.length, ...figures, ...latency].join(' | ')} |`;
}

const latency = options['skip-latency'] ? [] : await measureLatency(folder, sets);
if (!options.only && !options['skip-latency']) {
  await writeFile(
    new URL('../SEARCH.md', import.meta.url),
    `# Search: quality and latency

Written by \`npm run bench:search -- --eval-dir ${folder}\` on Node ${process.version}, ${cpus()[0].model}. Queries went over
REST to the whole service: embedded database, no key, no network. \`static\` is the default configuration, \`minilm\` the
same with \`EMBEDDINGS_LOCAL_MODEL=minilm\`. \`reference\` is the row "static + BM25F, convex, + clauses" of the data's own
README, made by its recipe in \`bench/search/reference.mjs\`, \`bm25\` is plain BM25, \`minisearch\` MiniSearch with boosted
fields; they have no service around them, so their times say nothing.
Figures in per cent; recall counts needs met, a need being met by any of its equivalent tools. Times include HTTP.

## Quality

| set | model | strategy | queries | R@1 | R@5 | R@10 | NDCG@10 | MRR | p50 ms | p95 ms |
|---|---|---|---|---|---|---|---|---|---|---|
${sets.flatMap(({ name }) => quality.filter((row) => [`| ${name} `, `| ${name}: `].some((start) => row.startsWith(start)))).join('\n')}

## Whether a tool fits

Queries whose best hit fits less than the threshold: those that no tool serves are told apart, the others are false alarms.
The service says \`no_good_match\` at 0.2.

${fits.join('\n')}

## Spelling

Recall@5 when so many of the words of five letters or more have a typing error (a letter lost, doubled, replaced, or two
exchanged); of 150 queries a set.

| set | misspelt | static, direct | bm25 | minisearch |
|---|---|---|---|---|
${spelling.join('\n')}

## Learning from use

Recall@5 of the static model after so many uses of each tool at most, direct: a fifth of the queries is judged after the
tools that the others need were called after them, in turn. \`a quarter wrong\`: those calls were of another tool of the
first ten. \`tools without uses\`: the change of the recall of needs whose tools were not used.

${learningTable(learnt).join('\n')}

## Latency

All sets together, repeated under other server names until there are so many tools.

${latency.join('\n')}
`,
  );
}
