import { termsOf } from '@app/vectors';
import { normalised } from './normalised.js';
import type { Passage, ScoredPassage, UniquePassage } from './passage.js';
import { MAX_PIECE_CHARS } from './text-pieces.js';

/** What decides how relevant a passage is; the shares add up to 1. Chosen with bench/aggregation. */
const SHARES = { lexical: 0.45, meaning: 0.35, order: 0.15, freshness: 0.05 };
/** BM25. */
const SATURATION = 1.2;
const LENGTH_DISCOUNT = 0.5;
/** Cosines of the local model: texts that have nothing to do with each other, and such that say the same. */
const UNRELATED = 0.2;
const RELATED = 0.8;
/** A text as old as this, measured from the newest, is half as fresh. */
const HALF_LIFE_MS = 365 * 24 * 3_600_000;
/** Each further passage of one server has to be this much better, so that no server takes every place. */
const SAME_SERVER_FACTOR = 0.985;

export interface RankingInput {
  readonly query: string;
  readonly passages: readonly Passage[];
  /** Undefined for a text the model knows no word of. */
  readonly embed: (text: string) => Float32Array | undefined;
  /** Of each server, 0…1; 1 where there is none. */
  readonly weights: ReadonlyMap<string, number>;
}

/** Passages as they are cut from answers are not longer; of a longer one its beginning speaks for it. */
const READ_CHARS = MAX_PIECE_CHARS;
/** Reading for meaning is dear: passages that come after these by everything else are not returned. */
const MEANING_DEPTH = 200;

/**
 * Scores by everything but meaning, best first. The order in which servers answered plays no part:
 * equal input in any order gives equal output.
 */
export function scored({ query, passages, weights }: RankingInput): ScoredPassage[] {
  const ordered = passages.toSorted(byOrigin);
  const lexical = lexicalScores(query, ordered);
  const freshness = freshnessScores(ordered);
  return ordered
    .map((passage, i) => {
      const score =
        SHARES.lexical * (lexical[i] ?? 0) +
        SHARES.order / (1 + passage.position / 5) +
        SHARES.freshness * (freshness[i] ?? 0);
      return { ...passage, score: score * (weights.get(passage.server) ?? 1) };
    })
    .sort(byScore);
}

/** Adds to the scores of the best what the model says of their meaning; the others are dropped. */
export function withMeaning(
  passages: readonly UniquePassage[],
  { query, embed, weights }: RankingInput,
): UniquePassage[] {
  const question = embed(query);
  return passages
    .slice(0, MEANING_DEPTH)
    .map((passage) => {
      const meaning = likeness(question, embed(passage.text.slice(0, READ_CHARS)));
      const weight = weights.get(passage.server) ?? 1;
      return { ...passage, score: passage.score + SHARES.meaning * meaning * weight };
    })
    .sort(byScore);
}

/** The n-th passage of a server counts a little less than the one before it. */
export function diversified(passages: readonly UniquePassage[]): UniquePassage[] {
  const seen = new Map<string, number>();
  return passages
    .map((passage) => {
      const before = seen.get(passage.server) ?? 0;
      seen.set(passage.server, before + 1);
      return { ...passage, score: passage.score * SAME_SERVER_FACTOR ** before };
    })
    .sort(byScore);
}

/** A passage that only says the question again, as "Echo: …" does, answers nothing. Titles of few words may. */
export function answersSomething(query: string): (passage: Passage) => boolean {
  const question = normalised(query);
  const isTitle = question.split(' ').length < 3;
  return ({ text }) => {
    if (text.length > 2 * query.length) return true;
    const said = normalised(text);
    if (isTitle || !said.endsWith(question)) return said !== '';
    return said.slice(0, -question.length).trim().includes(' ');
  };
}

export function byOrigin(a: Passage, b: Passage): number {
  return (
    compare(a.server, b.server) ||
    compare(a.tool, b.tool) ||
    a.position - b.position ||
    compare(a.text, b.text)
  );
}

function byScore(a: ScoredPassage, b: ScoredPassage): number {
  return b.score - a.score || byOrigin(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** BM25 over these passages, as a share of what a text full of every word of the question would get. */
function lexicalScores(query: string, passages: readonly Passage[]): number[] {
  const wanted = [...new Set(termsOf(query))];
  const counted = passages.map(({ text }) => {
    const terms = termsOf(text.slice(0, READ_CHARS));
    const counts = new Map<string, number>();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    return { counts, length: terms.length };
  });
  const averageLength = mean(counted.map(({ length }) => length)) || 1;
  const weights = wanted.map((term) => {
    const found = counted.filter(({ counts }) => counts.has(term)).length;
    return Math.log(1 + (passages.length - found + 0.5) / (found + 0.5));
  });
  const best = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  return counted.map(({ counts, length }) => {
    const discount = 1 - LENGTH_DISCOUNT + (LENGTH_DISCOUNT * length) / averageLength;
    const score = wanted.reduce((sum, term, i) => {
      const frequency = counts.get(term) ?? 0;
      return sum + ((weights[i] ?? 0) * frequency) / (frequency + SATURATION * discount);
    }, 0);
    return score / best;
  });
}

/** 0 for texts that have nothing to do with each other, 1 for such that say the same. */
function likeness(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return Math.min(1, Math.max(0, (cosine(a, b) - UNRELATED) / (RELATED - UNRELATED)));
}

/** Of vectors of length 1; 0 when a text has none. */
export function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** Measured from the newest passage, not from now, so that the same answers rank the same tomorrow. */
function freshnessScores(passages: readonly Passage[]): number[] {
  const newest = passages.reduce(
    (last, { writtenAt = last }) => Math.max(last, writtenAt),
    -Infinity,
  );
  return passages.map(({ writtenAt }) =>
    writtenAt === undefined ? 0.5 : 2 ** ((writtenAt - newest) / HALF_LIFE_MS),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
}
