// node bench/policy/calls.mjs [batches] [rounds] [calls]: what a call costs with 50 views, 500 grants and 1,000 overrides,
// beside the same service without any. Every batch starts both again, because two processes of the same code differ by
// some percent; within a batch the targets take turns. Prints ratios; --write replaces bench/POLICY.md.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { interleaved, measure, median, ratio } from '../calls/measure.mjs';
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
let products = [];
for (let i = 0; i < 2; i++) products.push(await startProduct({ up0: { url: upstream.url } }, env));
for (const product of products) await settled(product, TOOLS);
await applyPolicy(products[1]);

const names = ['nothing', 'same', 'view', 'mcp'];
const found = Object.fromEntries(names.map((name) => [name, []]));
for (let batch = 0; batch < batches; batch++) {
  const part = await measuredBatch();
  for (const name of names) found[name].push(...part[name]);
  process.stderr.write(`${batch + 1} of ${batches}: ${JSON.stringify(ratiosOf(part))}\n`);
}
for (const each of [...products, upstream]) await each.stop();

const ratios = ratiosOf(found);
const lines = [
  ['a view', ratios.view],
  ['/mcp', ratios.mcp],
  ['/mcp without a policy, again', ratios.same],
].map(([what, value]) => `| ${what} | ${value.toFixed(3)} |`);
const table = ['| caller uses | CPU a call ÷ without a policy |', '| --- | --- |', ...lines].join(
  '\n',
);
console.log(table);
if (isWriting) writeFileSync(new URL('../POLICY.md', import.meta.url), report(table));
process.exit(Math.max(ratios.view, ratios.mcp) > BOUND ? 1 : 0);

/** One round of each target after the other in random order. */
async function measuredBatch() {
  products = await Promise.all(products.map((product) => product.restart()));
  const [plain, policed] = products;
  for (const product of products) await settled(product, TOOLS);
  const target = ({ pid, origin }, path) => ({
    pid,
    url: origin + path,
    headers: { ...AUTH, Authorization: `Bearer ${CALLER}` },
    tool: 'up0__echo_0',
  });
  const targets = {
    nothing: target(plain, '/mcp'),
    same: target(plain, '/mcp'),
    view: target(policed, '/mcp/views/view-7'),
    mcp: target(policed, '/mcp'),
  };
  for (const name of names) await measure(targets[name], PLAN);
  const part = await interleaved(targets, PLAN, rounds);
  const failed = names.flatMap((name) => part[name]).find((run) => run.errors > 0);
  if (failed) throw new Error(`a call failed: ${failed.firstError}`);
  return part;
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

function ratiosOf(part) {
  return Object.fromEntries(
    ['same', 'view', 'mcp'].map((name) => [name, ratio(part[name], part.nothing, 'cpu')]),
  );
}

function report(shown) {
  const us = median(found.nothing.map(({ cpu }) => cpu));
  return `# What a policy costs

Written by \`npm run bench:policy -- ${batches} ${rounds} --write\` on Node ${process.version}, ${cpus().length} × ${cpus()[0].model}: processor time of a call with ${VIEWS} views, ${GRANTS} grants and ${OVERRIDES} overrides, divided by that of the same service without any (${us.toFixed(0)} µs). Medians of ${batches * rounds} rounds, each with ${PLAN.calls} calls of 64 connections to each target; ${batches} batches start every process again. The last row is the noise: the same target a second time, so that both processes answer as many calls.

${shown}

\`node bench/policy/compile.mjs\` tells what views cost to compile ([0440](../docs/decisions/0440-views-grants-overrides.md)).
`;
}
