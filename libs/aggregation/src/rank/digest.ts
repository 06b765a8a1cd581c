import { atOnce, type Sliced } from '@app/platform';
import { uniquePassages } from './duplicates.js';
import type { Passage, UniquePassage } from '../read/passage.js';
import {
  answersSomething,
  byOrigin,
  diversified,
  type RankingInput,
  scoring,
  withMeaning,
} from './passage-scores.js';
import { withinBudget } from './token-budget.js';

/** Of more passages only the first ones of each server are ranked: the answer has a deadline. */
const MAX_RANKED = 2_000;

export interface DigestLimits {
  readonly maxResults: number;
  readonly maxTokens: number;
}

/** The merged answers, cut to what the client asked for. */
export interface Digest {
  /** Best first. */
  readonly results: readonly UniquePassage[];
  /** Passages in all answers, and how many are left without duplicates. */
  readonly raw: number;
  readonly unique: number;
  /** Without duplicates, before the answer was cut to its limits. */
  readonly ranked: readonly UniquePassage[];
}

/** Filters, ranks, merges and cuts the passages of all servers. */
export function digestOf(input: RankingInput, limits: DigestLimits): Digest {
  return atOnce(digesting(input, limits));
}

/** In slices. */
export function* digesting(input: RankingInput, limits: DigestLimits): Sliced<Digest> {
  const telling = yield* filtered(input.passages, answersSomething(input.query));
  const passages = firstOfEach(telling);
  const weights = relative(input.weights, passages);
  const unique = yield* uniquePassages(yield* scoring({ ...input, passages, weights }));
  const ranked = yield* withMeaning(unique, { ...input, weights });
  const diverse = diversified(ranked);
  const best = diverse.slice(0, limits.maxResults);
  const texts = withinBudget(
    best.map(({ text }) => text),
    limits.maxTokens,
  );
  return {
    results: best.map((passage, i) => ({ ...passage, text: texts[i] ?? passage.text })),
    raw: input.passages.length,
    unique: unique.length,
    ranked: diverse,
  };
}

function* filtered(
  passages: readonly Passage[],
  isWanted: (passage: Passage) => boolean,
): Sliced<Passage[]> {
  const wanted: Passage[] = [];
  for (const passage of passages) {
    yield;
    if (isWanted(passage)) wanted.push(passage);
  }
  return wanted;
}

/** Grouped by position first, so that not all passages are sorted. */
function firstOfEach(passages: readonly Passage[]): readonly Passage[] {
  if (passages.length <= MAX_RANKED) return passages;
  const byPosition: Passage[][] = [];
  for (const passage of passages) (byPosition[passage.position] ??= []).push(passage);
  const first: Passage[] = [];
  for (const same of byPosition) {
    if (first.length >= MAX_RANKED) break;
    if (same) first.push(...same.sort(byOrigin));
  }
  return first.slice(0, MAX_RANKED);
}

/** Scales the weights of the servers that answered to a maximum of 1, so that scores stay within 1. */
function relative(
  weights: ReadonlyMap<string, number>,
  passages: readonly Passage[],
): ReadonlyMap<string, number> {
  const answering = new Set(passages.map(({ server }) => server));
  const heaviest = Math.max(...[...answering].map((server) => weights.get(server) ?? 1));
  return new Map([...answering].map((server) => [server, (weights.get(server) ?? 1) / heaviest]));
}
