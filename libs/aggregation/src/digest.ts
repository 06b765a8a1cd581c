import { withoutDuplicates } from './duplicates.js';
import type { UniquePassage } from './passage.js';
import {
  answersSomething,
  diversified,
  type RankingInput,
  scored,
  withMeaning,
} from './ranking.js';
import { withinBudget } from './size-limit.js';

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
  const passages = input.passages.filter(answersSomething(input.query));
  const unique = withoutDuplicates(scored({ ...input, passages }));
  const best = diversified(withMeaning(unique, input)).slice(0, limits.maxResults);
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
