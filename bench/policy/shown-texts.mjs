// What search pays for the names and descriptions that a view gives to 1,000 of 10,000 tools:
//   npm run --silent build && node bench/policy/shown-texts.mjs
import { StaticModel } from '../../dist/libs/vectors/src/embed/static-model.js';
import { dot } from '../../dist/libs/vectors/src/indexes/vector-math.js';
import { LexicalIndex } from '../../dist/libs/search/src/words/lexical-index.js';
import { toDocument } from '../../dist/libs/search/src/words/lexical-tools.js';
import { bestOf, nearest, ShownTexts } from '../../dist/libs/search/src/shown/shown-texts.js';

const TOOLS = 10_000;
const RETOLD = 1_000;
const SEARCHES = 500;
const things = ['invoice', 'issue', 'letter', 'branch', 'order', 'image', 'meeting', 'contract'];
const verbs = ['create', 'list', 'delete', 'update', 'find', 'send', 'merge', 'archive'];

const toolOf = (i) => {
  const name = `${verbs[i % 8]}_${things[(i >> 3) % 8]}_${i}`;
  return {
    id: i + 1,
    serverName: `server-${i % 100}`,
    originalName: name,
    title: null,
    description: `${verbs[i % 8]} one ${things[(i >> 3) % 8]} of the account, by its number or its name`,
    inputSchema: { type: 'object', properties: { id: { type: 'string' }, query: {} } },
  };
};
const tools = Array.from({ length: TOOLS }, (_, i) => toolOf(i));
const own = new LexicalIndex();
own.update(tools.map(toDocument), []);
const model = StaticModel.load();

const shown = tools.map((tool, i) =>
  i % (TOOLS / RETOLD) === 0
    ? {
        ...tool,
        description: `Handles the ${things[i % 8]} of a customer`,
        offeredAs: { name: `desk_${i}` },
      }
    : tool,
);
const snapshot = { isPart: true, tools: shown };
const texts = new ShownTexts({ index: own }, { modelId: model.id }, model);
const view = {};
let started = performance.now();
const compiled = await texts.of(view, snapshot);
console.log(`compiled once: ${(performance.now() - started).toFixed(1)} ms`);

started = performance.now();
for (let i = 0; i < SEARCHES; i++) await texts.of(view, snapshot);
console.log(
  `found compiled: ${(((performance.now() - started) / SEARCHES) * 1_000).toFixed(1)} µs`,
);
started = performance.now();
for (let i = 0; i < 20; i++) await texts.of(view, { isPart: true, tools: [...shown] });
console.log(
  `after another change of the catalogue: ${((performance.now() - started) / 20).toFixed(3)} ms`,
);

const everything = () => true;
const query = 'archive the contract of a customer';
const vector = model.embed(query);
const time = (work) => {
  for (let i = 0; i < 50; i++) work();
  const from = performance.now();
  for (let i = 0; i < SEARCHES; i++) work();
  return ((performance.now() - from) / SEARCHES).toFixed(3);
};
console.log(
  `a search by the words of servers: ${time(() => own.search(query, 500, everything))} ms`,
);
const ownHits = own.search(query, 500, everything);
const ownDense = tools
  .map((tool) => ({ id: tool.id, score: dot(vector, model.embed(tool.description)) }))
  .sort((a, b) => b.score - a.score)
  .slice(0, 300);
console.log(
  `more for what the view shows: ${time(() => {
    bestOf(ownHits, compiled.words.search(query, 500, everything));
    bestOf(ownDense, nearest(compiled.vectors, vector, ownDense[299].score));
  })} ms`,
);
