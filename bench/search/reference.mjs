import { parameterNames } from '../../dist/libs/catalogue/src/index.js';
import { dot, StaticModel, toolText } from '../../dist/libs/vectors/src/index.js';
import { bm25f, plainBm25, termsIn } from './bm25f.mjs';
import MiniSearch from 'minisearch';

const LEXICAL_SHARE = 0.45;
const CLAUSE_SHARE = 0.8;
const DEPTH = 100;
/** Sentences and conjunctions. */
const BOUNDARY = /(?<=[.!?;])\s+|\n+|,?\s+(?:and then|and also|and|then|also|but|or)\s+/i;
const MIN_WORDS = 3;

/**
 * The row "static + BM25F, convex, + clauses" of the README of the evaluation data by its recipe, and plain BM25: scores
 * scaled to the maximum and to the hundredth tool, the better of the whole query and 0.8 of its best clause; MiniSearch with
 * boosted fields. Each maps a query to the ids of ten tools.
 */
export function rivals(tools) {
  const documents = tools.map(({ server, name, description, input_schema }) => ({
    name,
    server,
    description: description ?? '',
    parameters: parameterNames(input_schema ?? {}).join(' '),
  }));
  const bm25 = plainBm25(documents);
  return {
    reference: reference(tools, documents),
    bm25: (query) => best(tools, bm25(query)),
    minisearch: miniSearch(tools, documents),
  };
}

/** As gateways use it: names before descriptions before parameters, beginnings of words, and one typing error in five letters. */
function miniSearch(tools, documents) {
  const index = new MiniSearch({
    fields: ['name', 'server', 'description', 'parameters'],
    tokenize: termsIn,
    processTerm: (term) => term,
    searchOptions: {
      boost: { name: 3, server: 1.5, description: 1, parameters: 0.5 },
      prefix: true,
      fuzzy: 0.2,
    },
  });
  index.addAll(documents.map((document, id) => ({ id, ...document })));
  return (query) =>
    index
      .search(query)
      .slice(0, 10)
      .map(({ id }) => tools[id].id);
}

function reference(tools, documents) {
  const model = StaticModel.load();
  const lexical = bm25f(documents);
  const vectors = documents.map((document) =>
    model.embed(toolText({ ...document, parameters: document.parameters.split(' ') })),
  );
  const scoresOf = (text) => {
    const scores = lexical(text);
    const highest = Math.max(...scores) || 1;
    for (let id = 0; id < scores.length; id++) scores[id] *= LEXICAL_SHARE / highest;
    const query = model.embed(text);
    if (!query) return scores;
    const cosines = vectors.map((vector) => (vector ? dot(query, vector) : 0));
    const sorted = cosines.toSorted((a, b) => b - a);
    const [top, bottom] = [sorted[0], sorted[DEPTH - 1] ?? 0];
    cosines.forEach((cosine, id) => {
      scores[id] += (1 - LEXICAL_SHARE) * Math.max(0, (cosine - bottom) / (top - bottom || 1));
    });
    return scores;
  };
  return (query) => {
    const scores = scoresOf(query);
    const clauses = query.split(BOUNDARY).filter((one) => one.split(/\s+/).length >= MIN_WORDS);
    for (const clause of clauses.length > 1 ? clauses : []) {
      scoresOf(clause).forEach((score, id) => {
        scores[id] = Math.max(scores[id], CLAUSE_SHARE * score);
      });
    }
    return best(tools, scores);
  };
}

function best(tools, scores) {
  return tools
    .map((tool, id) => ({ id: tool.id, score: scores[id] }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 10)
    .map(({ id }) => id);
}
