import { piecesOfAnswer } from '../../dist/libs/aggregation/src/read/answer-pieces.js';
import { digestOf } from '../../dist/libs/aggregation/src/rank/digest.js';
import { buildFleet, readSet, seeded } from './fleet.mjs';

const MAX_TOKENS = 6_000;

/** NDCG@10 of the paragraph with the answer, and the share that remains at 30 results. */
export function measureQuality(json, embed) {
  const set = readSet(json);
  const fleet = buildFleet(set, seeded(7));
  const sums = {
    fused: 0,
    concatenated: 0,
    interleaved: 0,
    best: new Map(),
    found: 0,
    kept: 0,
    answered: 0,
    raw: 0,
    returned: 0,
    duplicates: 0,
    wrongMerges: 0,
    results: 0,
    unique: 0,
  };
  for (const question of set.questions) {
    const answers = fleet.map((server) => ({
      server: server.name,
      ...server.search(question.text),
    }));
    const passages = answers.flatMap(({ server, result }) =>
      piecesOfAnswer(result).pieces.map((piece, position) => ({
        ...piece,
        server,
        tool: 'search',
        position,
        retrievedAt: 0,
      })),
    );
    const digest = digestOf(
      { query: question.text, passages, embed, weights: new Map() },
      { maxResults: 30, maxTokens: MAX_TOKENS },
    );
    const idsOf = ({ sources }) => [
      ...new Set(sources.map(({ url }) => Number(url?.split('/').at(-1)))),
    ];
    const fused = digest.results.map(idsOf);
    sums.wrongMerges += fused.filter((ids) => ids.length > 1).length;
    sums.results += digest.results.length;
    sums.unique += digest.unique;
    sums.duplicates += digest.raw - digest.unique;
    sums.fused += ndcg(distinct(fused.flat()), question.paragraph);
    sums.concatenated += ndcg(
      answers.flatMap(({ ids }) => ids),
      question.paragraph,
    );
    sums.interleaved += ndcg(
      distinct(interleaved(answers.map(({ ids }) => ids))),
      question.paragraph,
    );
    for (const { server, ids } of answers) {
      sums.best.set(server, (sums.best.get(server) ?? 0) + ndcg(ids, question.paragraph));
    }
    if (answers.some(({ ids }) => ids.includes(question.paragraph))) {
      sums.found++;
      if (fused.some((ids) => ids.includes(question.paragraph))) sums.kept++;
      const cut = digest.results.find((result) => idsOf(result).includes(question.paragraph));
      if (cut?.text.includes(question.answer)) sums.answered++;
    }
    sums.raw += answers.reduce((sum, { result }) => sum + JSON.stringify(result.content).length, 0);
    sums.returned += JSON.stringify(
      digest.results.map(({ text, server, score, sources }) => ({ text, server, score, sources })),
    ).length;
  }
  const count = set.questions.length;
  return {
    questions: count,
    paragraphs: set.paragraphs.length,
    servers: fleet.length,
    fused: sums.fused / count,
    concatenated: sums.concatenated / count,
    interleaved: sums.interleaved / count,
    bestServer: Math.max(...sums.best.values()) / count,
    recallAt30: sums.kept / sums.found,
    answerKeptAt30: sums.answered / sums.found,
    sizeReduction: 1 - sums.returned / sums.raw,
    wrongMerges: sums.wrongMerges / sums.results,
    rawPassages: (sums.unique + sums.duplicates) / count,
    uniquePassages: sums.unique / count,
  };
}

function ndcg(ids, relevant) {
  const rank = ids.slice(0, 10).indexOf(relevant);
  return rank < 0 ? 0 : 1 / Math.log2(rank + 2);
}

function interleaved(lists) {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1)),
  ).flat();
}

const distinct = (items) => [...new Set(items)];
