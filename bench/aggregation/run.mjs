// npm run bench:aggregation -- [--data ../shared/eval/xquad.en.json] [--queries 1000]; writes bench/AGGREGATION.md
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { StaticModel } from '../../dist/libs/vectors/src/embed/static-model.js';
import { measureAlike } from './alike.mjs';
import { measureLatency } from './latency.mjs';
import { measureLoad } from './load.mjs';
import { measureQuality } from './quality.mjs';

const { values: options } = parseArgs({
  options: {
    // XQuAD, English (CC BY-SA 4.0): https://github.com/google-deepmind/xquad. Not part of this repository.
    data: {
      type: 'string',
      default: `${process.env.EVAL_DIR ?? '../shared/eval'}/xquad.en.json`,
    },
    queries: { type: 'string', default: '1000' },
  },
});
const model = StaticModel.load();
const embed = (text) => model.embed(text);
const alike = measureAlike(embed);
const alikeTable = `| passages of 1.4 kB | unique | CPU p50 | CPU p95 | p50, compared with different ones |
|---|---|---|---|---|
${alike
  .map(
    ({ kind, unique, p50, p95 }) =>
      `| ${kind} | ${unique} | ${p50.toFixed(0)} ms | ${p95.toFixed(0)} ms | ${(p50 / alike[0].p50).toFixed(2)} |`,
  )
  .join('\n')}`;
console.log(alikeTable);
if (!existsSync(options.data)) {
  const load = await measureLoad({ queries: Number(options.queries), concurrency: 50 });
  console.log(`Memory of an active query: ${load.mbAQuery.toFixed(1)} MB`);
  console.log(`${options.data} is absent: the report is not written.`);
  process.exit();
}
const texts = JSON.parse(readFileSync(options.data, 'utf8'));

const [hundred, thousand] = [
  measureLatency(texts, embed, 100, 50),
  measureLatency(texts, embed, 1_000, 20),
];
const quality = measureQuality(texts, embed);
const load = await measureLoad({ queries: Number(options.queries), concurrency: 50 });

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const ms = (value) => `${value.toFixed(0)} ms`;
const speedRow = (row) =>
  `| ${row.passages} | ${row.unique} | ${ms(row.p50)} | ${ms(row.p95)} | ${ms(row.cpu)} |`;

const report = `# Aggregated query: speed, quality, load

Written by \`npm run bench:aggregation\` on Node ${process.version}, ${cpus()[0].model}, ${cpus().length} cores.

## Speed

Score, deduplicate, order and cut passages of 1 to 4 kB, nearly a third of them repeated with changes.

| passages | unique | p50 | p95 | CPU |
|---|---|---|---|---|
${speedRow(hundred)}
${speedRow(thousand)}

${alikeTable}

## Quality

${quality.questions} questions that people wrote on ${quality.paragraphs} paragraphs (XQuAD, English, CC BY-SA 4.0;
not part of this repository). Each paragraph is on one to three of ${quality.servers} servers, as it is or changed a
little; each server counts words of the question and gives its ten best, as JSON, Markdown, resources or structured
content. NDCG@10 of the paragraph that has the answer:

| ranking | NDCG@10 |
|---|---|
| aggregated query | ${quality.fused.toFixed(3)} |
| results of the servers taken in turn | ${quality.interleaved.toFixed(3)} |
| best single server | ${quality.bestServer.toFixed(3)} |
| one server after the other | ${quality.concatenated.toFixed(3)} |

Of the answers that a server found, ${percent(quality.recallAt30)} of the paragraphs are among the 30 results, and
${percent(quality.answerKeptAt30)} of the answers stand in what is left of them after cutting to 6,000 tokens. The
whole is ${percent(quality.sizeReduction)} smaller than the raw answers; of ${quality.rawPassages.toFixed(0)} passages
${quality.uniquePassages.toFixed(0)} were unique, and ${percent(quality.wrongMerges)} of the results merge different
paragraphs.

## Load

The built service in front of ten MCP servers over Streamable HTTP: six answer, one hangs, one is dead, one sends 20 MB,
one reports errors. ${load.queries} queries, ${load.concurrency} at a time; each server has 3 s, a query 5 s.

| p50 | p90 | p99 | failed queries | answers with everything the six had | calls by the servers' logs | by metadata | memory a query |
|---|---|---|---|---|---|---|---|
| ${ms(load.p50)} | ${ms(load.p90)} | ${ms(load.p99)} | ${load.failures} | ${load.complete} | ${load.askedInTruth} | ${load.askedByMetadata} | ${load.mbAQuery.toFixed(1)} MB |
`;
writeFileSync('bench/AGGREGATION.md', report);
console.log(report);
