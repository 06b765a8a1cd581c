import { atOnce, type Sliced } from '@app/platform';
import { termsOf } from '@app/vectors';
import { normaliseText } from './normalise-text.js';
import type { Passage, ScoredPassage, UniquePassage } from '../read/passage.js';
import { MAX_PIECE_CHARS } from '../read/text-pieces.js';

/** Weights of the relevance criteria; they add up to 1. Tuned with bench/aggregation. */
const SHARES = { lexical: 0.45, meaning: 0.35, order: 0.15, freshness: 0.05 };
/** BM25 parameters k1 and b. */
const SATURATION = 1.2;
const LENGTH_DISCOUNT = 0.5;
/** Cosines of the local model for unrelated texts and for paraphrases. */
const UNRELATED = 0.2;
const RELATED = 0.8;
/** A text this much older than the newest is half as fresh. */
const HALF_LIFE_MS = 365 * 24 * 3_600_000;
/** Applied to each further passage of a server, so that no server fills the whole result. */
const SAME_SERVER_FACTOR = 0.985;

export interface RankingInput {
  readonly query: string;
  readonly passages: readonly Passage[];
  /** Undefined for a text without a known word. */
  readonly embed: (text: string) => Float32Array | undefined;
  /** By server name, 0…1; the default is 1. */
  readonly weights: ReadonlyMap<string, number>;
}

/** Longer passages are embedded by their beginning. */
const MEANING_CHARS = 1_000;
/** Embedding is expensive: passages that rank lower by the other criteria are dropped. */
const MEANING_DEPTH = 200;

/**
 * Scores by all criteria except meaning, best first. Deterministic: the order in which servers answered
 * does not change the result.
 */
export function scored(input: RankingInput): ScoredPassage[] {
  return atOnce(scoring(input));
}

/** In slices. */
export function* scoring({ query, passages, weights }: RankingInput): Sliced<ScoredPassage[]> {
  const ordered = passages.toSorted(byOrigin);
  const lexical = yield* lexicalScores(query, ordered);
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

/** Adds the similarity in meaning to the scores of the best passages and drops the others. */
export function* withMeaning(
  passages: readonly UniquePassage[],
  { query, embed, weights }: RankingInput,
): Sliced<UniquePassage[]> {
  const question = embed(query);
  const read: UniquePassage[] = [];
  for (const passage of passages.slice(0, MEANING_DEPTH)) {
    yield;
    const meaning = similarity(question, embed(passage.text.slice(0, MEANING_CHARS)));
    const weight = weights.get(passage.server) ?? 1;
    read.push({ ...passage, score: passage.score + SHARES.meaning * meaning * weight });
  }
  return read.sort(byScore);
}

/** Discounts each further passage of the same server. */
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

/** False for a passage that only repeats the query, such as "Echo: …"; a query of one or two words may be a title. */
export function answersSomething(query: string): (passage: Passage) => boolean {
  const question = normaliseText(query);
  const isTitle = question.split(' ').length < 3;
  return ({ text }) => {
    if (text.length > 2 * query.length) return true;
    const said = normaliseText(text);
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

interface CountedTerms {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** BM25 over these passages, as a share of the highest possible score. */
function* lexicalScores(query: string, passages: readonly Passage[]): Sliced<number[]> {
  const wanted = [...new Set(termsOf(query))];
  const counted: CountedTerms[] = [];
  for (const { text } of passages) {
    yield;
    counted.push(countedTerms(text.slice(0, MAX_PIECE_CHARS)));
  }
  const averageLength = mean(counted.map(({ length }) => length)) || 1;
  const weights: number[] = [];
  for (const term of wanted) {
    yield;
    const found = counted.filter(({ counts }) => counts.has(term)).length;
    weights.push(Math.log(1 + (passages.length - found + 0.5) / (found + 0.5)));
  }
  const best = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  const scores: number[] = [];
  for (const { counts, length } of counted) {
    yield;
    const discount = 1 - LENGTH_DISCOUNT + (LENGTH_DISCOUNT * length) / averageLength;
    const score = wanted.reduce((sum, term, i) => {
      const frequency = counts.get(term) ?? 0;
      return sum + ((weights[i] ?? 0) * frequency) / (frequency + SATURATION * discount);
    }, 0);
    scores.push(score / best);
  }
  return scores;
}

function countedTerms(text: string): CountedTerms {
  const terms = termsOf(text);
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** 0 for unrelated texts, 1 for paraphrases. */
function similarity(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return Math.min(1, Math.max(0, (cosine(a, b) - UNRELATED) / (RELATED - UNRELATED)));
}

/** Of unit vectors; 0 when a text has none. */
export function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** Relative to the newest passage, not to now, so that equal answers rank equally at any time. */
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
