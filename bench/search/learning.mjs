import { QueryBus } from '@nestjs/cqrs';
import { Learning, LearntTools } from '../../dist/libs/learning/src/index.js';
import { Catalogue } from '../../dist/libs/catalogue/src/index.js';
import { ToolUseStore } from '../../dist/libs/learning/src/rows/tool-use.store.js';
import { Database } from '../../dist/libs/platform/src/index.js';
import { EVERYTHING } from '../../dist/libs/policy/src/index.js';
import { SearchTools } from '../../dist/libs/search/src/index.js';
import { StaticModel } from '../../dist/libs/vectors/src/index.js';
import { judge, mean, randomNumbers } from './metrics.mjs';

const FOLDS = 5;
const USES = [0, 1, 2, 5, 10];
const WRONG = 0.25;
const USES_WHEN_WRONG = 5;
/** Of the default view, which the service searches for its administrator. */
const VIEW = '00000000-0000-4000-8000-000000000001';
/** Uses that one caller counts for (libs/learning). */
const MAX_OF_CALLER = 5;
/** Fewer than the service holds before it stores them. */
const USES_PER_FLUSH = 300;
const FOUND = 50;

/**
 * Recall@5 after so many uses of each tool: a fifth of the queries is judged while the tools that the others need were
 * called after them, the next fifth after that, and so on. A wrong use calls another tool of the first ten.
 */
export async function learningCurve(set, service) {
  const context = await prepare(set, service);
  const rows = [];
  for (const uses of USES) rows.push(await point(context, uses, 0));
  rows.push(await point(context, USES_WHEN_WRONG, WRONG));
  await forget(context);
  return rows;
}

/** What is measured next has learnt nothing. */
async function forget({ get }) {
  await get(Database).direct.query('DELETE FROM mcp.tool_uses');
  await get(LearntTools).load();
}

async function prepare(set, service) {
  const get = (type) => service.app.get(type, { strict: false });
  const { toolsByName } = get(Catalogue).current;
  const ids = { get: (name) => toolsByName.get(name)?.id };
  const queries = [];
  for (const { text, relevant } of set.queries) {
    const query = text.slice(0, 2_000);
    queries.push({ query, relevant, plain: await namesFor(service, query, FOUND) });
  }
  return { get, ids, queries, service, name: set.name };
}

async function point({ get, ids, queries, service, name }, uses, wrong) {
  const recalls = [];
  const unused = { plain: [], learnt: [] };
  for (let fold = 0; fold < FOLDS; fold++) {
    const used = await learn({ get, ids, queries }, fold, uses, wrong);
    for (const [i, { query, relevant, plain }] of queries.entries()) {
      if (i % FOLDS !== fold) continue;
      const found = await namesFor(service, query, 10);
      recalls.push(judge(found, relevant).recall5);
      for (const need of relevant.filter((group) => !group.some((id) => used.has(id)))) {
        unused.plain.push(judge(plain, [need]).recall5);
        unused.learnt.push(judge(found, [need]).recall5);
      }
    }
  }
  return { name, uses, wrong, recall5: mean(recalls), unused };
}

/** Replaces what was learnt by uses after the queries of the other folds; returns the tools used. */
async function learn({ get, ids, queries }, fold, uses, wrong) {
  await get(Database).direct.query('DELETE FROM mcp.tool_uses');
  const [learning, model] = [get(Learning), get(StaticModel)];
  const random = randomNumbers(fold + 1);
  const counts = new Map();
  const used = new Set();
  let waiting = 0;
  for (const [i, { query, relevant, plain }] of queries.entries()) {
    const vector = model.embed(query);
    if (i % FOLDS === fold || !vector) continue;
    for (const [needed, ...others] of relevant) {
      const count = counts.get(needed) ?? 0;
      if (count >= uses) continue;
      counts.set(needed, count + 1);
      const mistaken = plain.slice(0, 10).filter((id) => id !== needed && !others.includes(id));
      const isWrong = random() < wrong && mistaken.length > 0;
      const tool = isWrong ? mistaken[Math.floor(random() * mistaken.length)] : needed;
      used.add(tool);
      const caller = { name: `caller ${Math.floor(count / MAX_OF_CALLER)}` };
      const session = {};
      const toolIds = plain.map((id) => ids.get(id));
      learning.noteSearch({ caller, viewId: VIEW, vector, tools: toolIds, session });
      learning.noteCall({ caller, toolId: ids.get(tool), session });
      if (++waiting % USES_PER_FLUSH === 0) await learning.flush();
    }
  }
  await learning.flush();
  await get(LearntTools).load();
  return used;
}

/** Without HTTP, because the curve takes seven searches for each query. */
async function namesFor({ app }, query, limit) {
  const request = { query, limit, strategy: 'direct' };
  const search = new SearchTools(request, EVERYTHING, { name: 'bench', viewId: VIEW });
  const { tools } = await app.get(QueryBus, { strict: false }).execute(search);
  return tools.map(({ tool }) => tool.name);
}

/** Lines of a table of all sets: a row for each number of uses. */
export function learningTable(points) {
  const sets = [...new Set(points.map(({ name }) => name))];
  const percent = (value) => (100 * value).toFixed(1);
  const kinds = [...new Set(points.map(({ uses, wrong }) => `${uses} ${wrong}`))];
  const lines = kinds.map((kind) => {
    const [uses, wrong] = kind.split(' ').map(Number);
    const ofKind = points.filter((point) => point.uses === uses && point.wrong === wrong);
    const recalls = sets.map((name) => ofKind.find((point) => point.name === name)?.recall5);
    const unused = (which) => mean(ofKind.flatMap((point) => point.unused[which]));
    const change = 100 * (unused('learnt') - unused('plain'));
    const label = wrong > 0 ? `${uses}, a quarter wrong` : uses;
    return `| ${[label, ...recalls.map(percent), percent(mean(recalls)), change.toFixed(1)].join(' | ')} |`;
  });
  return [
    `| uses | ${sets.join(' | ')} | mean | tools without uses |`,
    `|---|${sets.map(() => '---|').join('')}---|---|`,
    ...lines,
  ];
}

/** As if each tool had been called five times after some of the queries. */
export async function useEveryTool({ app }, queries) {
  const get = (type) => app.get(type, { strict: false });
  const model = get(StaticModel);
  const vectors = queries.flatMap((query) => model.embed(query) ?? []);
  const uses = [...get(Catalogue).current.toolsById.keys()].map((toolId, i) => ({
    viewId: VIEW,
    toolId,
    caller: 'everyone',
    uses: { count: MAX_OF_CALLER, mean: vectors[i % vectors.length] },
  }));
  await get(ToolUseStore).add(model.id, uses, new Date());
  await get(LearntTools).load();
}
