import { LexicalIndex } from '../../dist/libs/search/src/words/lexical-index.js';
import { clausesOf } from '../../dist/libs/search/src/rank/clauses.js';
import { parameterNames } from '../../dist/libs/discovery/src/index.js';
import { dot, StaticModel, toolText } from '../../dist/libs/vectors/src/index.js';

const LEXICAL_SHARE = 0.45;
const CLAUSE_SHARE = 0.8;
const DEPTH = 100;

/**
 * The row "static + BM25F, convex, + clauses" of the README of the evaluation data, implemented as described there:
 * parameter names only, scores scaled to the maximum and to the hundredth tool, the better of the whole query and 0.8
 * of its best clause. Maps a query to the ids of ten tools.
 */
export function referenceSearch(tools) {
  const model = StaticModel.load();
  const lexical = new LexicalIndex();
  const words = tools.map(({ server, name, description, input_schema }) => ({
    server,
    name,
    description: description ?? '',
    parameters: parameterNames(input_schema ?? {}),
  }));
  lexical.update(
    words.map((tool, id) => ({ ...tool, id, parameters: tool.parameters.join(' ') })),
    [],
  );
  const vectors = words.map((tool) => model.embed(toolText(tool)));

  const scoresOf = (text) => {
    const scores = new Float64Array(tools.length);
    const found = lexical.search(text, tools.length, () => true);
    for (const { id, score } of found) scores[id] = (LEXICAL_SHARE * score) / found[0].score;
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
    for (const clause of clausesOf(query)) {
      scoresOf(clause).forEach((score, id) => {
        scores[id] = Math.max(scores[id], CLAUSE_SHARE * score);
      });
    }
    return tools
      .map((tool, id) => ({ id: tool.id, score: scores[id] }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 10)
      .map(({ id }) => id);
  };
}
