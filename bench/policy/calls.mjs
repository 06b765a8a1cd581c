// node bench/policy/calls.mjs [batches] [rounds] [calls]: what a call costs with 50 views, 500 grants and 1,000 overrides,
// beside the same process before they are applied. Two processes of the same code differ by some percent, so that each is
// compared with itself; a second one without a policy shows what time alone changes. Every batch starts both again. Prints
// ratios; --write replaces bench/POLICY.md.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { interleaved, measure, median } from '../calls/measure.mjs';
import { AUTH, settled, startProduct, startUpstream, TOKEN } from '../calls/processes.mjs';

const VIEWS = 50;
const GRANTS = 500;
const OVERRIDES = 1_000;
const TOOLS = 1_000;
const CALLER = 'caller-token-0123456789abcdef';
/** Medians of the ratios may be this far above 1. */
const BOUND = 1.02;

const isWriting = process.argv.includes('--write');
const [batches = 3, rounds = 5, calls = 20_000] = process.argv
  .slice(2)
  .filter((argument) => argument !== '--write')
  .map(Number);

const PLAN = { connections: 64, calls };

const upstream = await startUpstream(TOOLS);
const env = { MCP_AGGREGATOR_TOKENS: `bench:read+call+admin:${TOKEN},caller:call:${CALLER}` };
const found = [];
for (let batch = 0; batch < batches; batch++) {
  found.push(await measuredBatch());
  process.stderr.write(`${batch + 1} of ${batches}: ${JSON.stringify(found.at(-1))}\n`);
}
await upstream.stop();

const ratios = Object.fromEntries(
  ['view', 'mcp', 'same'].map((name) => [name, found.map((each) => each[name])]),
);
const shown = (values) =>
  [median(values), Math.min(...values), Math.max(...values)].map((one) => one.toFixed(3));
const line = (what, values) => `| ${what} | ${shown(values).join(' | ')} |`;
const lines = [
  line('a view', ratios.view),
  line('/mcp', ratios.mcp),
  line('/mcp of the process without a policy', ratios.same),
];
const table = [
  '| caller uses | CPU a call, after ÷ before | least | most |',
  '| --- | --- | --- | --- |',
  ...lines,
].join('\n');
console.log(table);
if (isWriting) writeFileSync(new URL('../POLICY.md', import.meta.url), report(table));
process.exit(Math.max(median(ratios.view), median(ratios.mcp)) > BOUND ? 1 : 0);

/** What the policy changes in one process, divided by what the same time changes in the other; `same` is the latter. */
async function measuredBatch() {
  const [plain, policed] = [await started(), await started()];
  const plainMcp = target(plain, '/mcp');
  const mcp = target(policed, '/mcp');
  for (const each of [plainMcp, mcp, plainMcp, mcp]) await measure(each, PLAN);
  const before = await rounded({ plain: plainMcp, mcp });
  await applyPolicy(policed);
  const view = target(policed, '/mcp/views/view-7');
  for (const each of [plainMcp, mcp, view]) await measure(each, PLAN);
  const after = await rounded({ plain: plainMcp, mcp, view });
  for (const each of [plain, policed]) await each.stop();
  const same = after.plain / before.plain;
  return {
    view: after.view / before.mcp / same,
    mcp: after.mcp / before.mcp / same,
    same,
    us: before.mcp,
  };
}

async function started() {
  const product = await startProduct({ up0: { url: upstream.url } }, env);
  await settled(product, TOOLS);
  return product;
}

function target({ pid, origin }, path) {
  const headers = { ...AUTH, Authorization: `Bearer ${CALLER}` };
  return { pid, url: origin + path, headers, tool: 'up0__echo_0' };
}

/** Processor time of a call, the median of the rounds. */
async function rounded(targets) {
  const results = await interleaved(targets, PLAN, rounds);
  const failed = Object.values(results)
    .flat()
    .find((run) => run.errors > 0);
  if (failed) throw new Error(`a call failed: ${failed.firstError}`);
  return Object.fromEntries(
    Object.entries(results).map(([name, runs]) => [name, median(runs.map(({ cpu }) => cpu))]),
  );
}

async function applyPolicy(product) {
  const post = async (body) => {
    const answer = await product.post('/api/v1/aggregator/policy/import', body);
    if (!answer.changed || answer.refused?.length > 0) {
      throw new Error(`the policy was not applied: ${JSON.stringify(answer).slice(0, 500)}`);
    }
  };
  const { views, overrides } = policyDocument();
  const parts = [
    ...Object.entries(views).map(([slug, view]) => ({ views: { [slug]: view } })),
    ...inTens(Object.entries(overrides)).map((some) => ({ overrides: Object.fromEntries(some) })),
  ];
  for (const part of parts) await post(part);
}

function inTens(items) {
  return Array.from({ length: Math.ceil(items.length / 10) }, (_, i) =>
    items.slice(i * 10, i * 10 + 10),
  );
}

/** The caller has a grant on one view; half of the overrides are for every view, one of them of the tool that is called. */
function policyDocument() {
  const overrideOf = (i) => ({ description: `Described by a person, ${i}` });
  const views = Array.from({ length: VIEWS }, (_, view) => {
    const grants = Array.from({ length: GRANTS / VIEWS }, (__, i) => ({
      subject: view === 7 && i === 0 ? 'token:caller' : `token:other-${view}-${i}`,
      level: 'call',
    }));
    const perView = OVERRIDES / 2 / VIEWS;
    const overrides = Array.from({ length: perView }, (__, i) => view * perView + i);
    return [
      `view-${view}`,
      {
        rules: [
          { effect: 'include', server: 'up0' },
          { effect: 'exclude', kind: 'tool', name: `echo_9${view % 10}*` },
        ],
        grants,
        overrides: Object.fromEntries(overrides.map((i) => [`up0.echo_${i}`, overrideOf(i)])),
      },
    ];
  });
  const everywhere = Array.from({ length: OVERRIDES / 2 }, (_, i) => i * 2);
  return {
    views: Object.fromEntries(views),
    overrides: Object.fromEntries(everywhere.map((i) => [`up0.echo_${i}`, overrideOf(i)])),
  };
}

function report(text) {
  const us = median(found.map((each) => each.us));
  return `# What a policy costs

Written by \`npm run bench:policy -- ${batches} ${rounds} --write\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}: processor time of a call with ${VIEWS} views, ${GRANTS} grants and ${OVERRIDES} overrides, divided by that of the same process before they were applied (${us.toFixed(0)} µs), and by what the same time changed in a process without a policy (last row). Medians of ${batches} batches, each with new processes and ${rounds} rounds of ${PLAN.calls} calls of 64 connections to each target.

${text}

\`node bench/policy/compile.mjs\` tells what views cost to compile ([0440](../docs/decisions/0440-views-grants-overrides.md)).
`;
}
