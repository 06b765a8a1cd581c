import { withoutDuplicates } from './duplicates.js';
import type { Passage, UniquePassage } from './passage.js';
import {
  answersSomething,
  byOrigin,
  diversified,
  type RankingInput,
  scored,
  withMeaning,
} from './ranking.js';
import { withinBudget } from './size-limit.js';

/** Of more passages than these only the first of each server are ranked: the answer has a deadline. */
const MAX_RANKED = 2_000;

export interface DigestLimits {
  readonly maxResults: number;
  readonly maxTokens: number;
}

/** What is left of all answers for a model to read. */
export interface Digest {
  /** Best first. */
  readonly results: readonly UniquePassage[];
  /** Passages in all answers, and how many of them say something of their own. */
  readonly raw: number;
  readonly unique: number;
}

/** From the passages of all servers to the few that go to the client. */
export function digestOf(input: RankingInput, limits: DigestLimits): Digest {
  const passages = firstOfEach(input.passages.filter(answersSomething(input.query)));
  const weights = relative(input.weights, passages);
  const unique = withoutDuplicates(scored({ ...input, passages, weights }));
  const best = diversified(withMeaning(unique, { ...input, weights })).slice(0, limits.maxResults);
  const texts = withinBudget(
    best.map(({ text }) => text),
    limits.maxTokens,
  );
  return {
    results: best.map((passage, i) => ({ ...passage, text: texts[i] ?? passage.text })),
    raw: input.passages.length,
    unique: unique.length,
  };
}

function firstOfEach(passages: readonly Passage[]): readonly Passage[] {
  if (passages.length <= MAX_RANKED) return passages;
  return passages
    .toSorted((a, b) => a.position - b.position || byOrigin(a, b))
    .slice(0, MAX_RANKED);
}

/** Only how the weights of those who answered compare counts; so scores stay within 1. */
function relative(
  weights: ReadonlyMap<string, number>,
  passages: readonly Passage[],
): ReadonlyMap<string, number> {
  const answering = new Set(passages.map(({ server }) => server));
  const heaviest = Math.max(...[...answering].map((server) => weights.get(server) ?? 1));
  return new Map([...answering].map((server) => [server, (weights.get(server) ?? 1) / heaviest]));
}
