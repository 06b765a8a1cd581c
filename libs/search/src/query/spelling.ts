import type { Sliced } from '@app/platform';
import type { Neighbour, WordList } from '../words/word-list.js';

const MIN_LENGTH = 4;
/** Longer words are data. */
const MAX_LENGTH = 24;
/** Words of one request that are compared with all others; limits what a hostile query costs. */
const MAX_COMPARED = 16;
/** Words of at least this length may be two edits away. */
const LONG = 8;
/** Parts of words that were written as one. */
const MIN_PART = 3;
/** A shorter word is rather a name than a misspelt word that no tool has. */
const MIN_OTHER = 7;
const ENDING =
  /(s|es|ed|er|ers|ing|ings|ly|ness|able|al|ation|ity|ment|ish|less|ful|ism|ist|ists)$/;
const PLAIN = /^[a-z]+$/;

export interface Vocabulary {
  /** Whether it is a word of a searched tool, in any form. */
  readonly isUsed: (word: string) => boolean;
  /** How many searched tools have the word. */
  readonly frequencyOf: (word: string) => number;
  /** Words of searched tools, those with the fewest edits. */
  readonly nearest: (word: string, maxEdits: number) => readonly Neighbour[];
  /** Other English words, those of the embedding model. */
  readonly others: WordList;
}

/**
 * Corrects the words of one request: its clauses have the words of the query, and a word is compared with the whole
 * catalogue only once. Yields before each comparison.
 */
export class Corrections {
  private readonly known = new Map<string, string | undefined>();

  constructor(private readonly vocabulary: Vocabulary) {}

  /** What a word (lower case) was probably meant to be; undefined for a word that is known or has no neighbour. */
  *of(word: string): Sliced<string | undefined> {
    if (this.known.has(word)) return this.known.get(word);
    if (this.known.size >= MAX_COMPARED || !isMisspelt(word, this.vocabulary)) return undefined;
    const correction = yield* correct(word, this.vocabulary);
    this.known.set(word, correction);
    return correction;
  }
}

function isMisspelt(word: string, { isUsed, others }: Vocabulary): boolean {
  if (word.length < MIN_LENGTH || word.length > MAX_LENGTH || !PLAIN.test(word)) return false;
  return !isUsed(word) && !isForm(word, others);
}

/** Words of the catalogue come first: a correction to another word finds nothing by itself. */
function* correct(word: string, vocabulary: Vocabulary): Sliced<string | undefined> {
  const { nearest, others, frequencyOf } = vocabulary;
  yield;
  const edits = word.length >= LONG ? 2 : 1;
  const near = nearest(word, edits);
  if (near.length > 0) {
    const best = near.map(({ word: candidate }) => ({
      candidate,
      likeness: likeness(word, candidate),
      frequency: frequencyOf(candidate),
    }));
    best.sort((a, b) => b.likeness - a.likeness || b.frequency - a.frequency);
    return best[0]?.candidate;
  }
  const parts = joined(word, frequencyOf);
  if (parts !== undefined || word.length < MIN_OTHER) return parts;
  yield;
  return others.nearest(word, 1)[0]?.word;
}

/** Whether it is a known word with or without an ending. */
function isForm(word: string, known: WordList): boolean {
  if (known.has(word)) return true;
  const stem = word.replace(ENDING, '');
  return stem.length >= MIN_LENGTH && (known.has(stem) || known.has(`${stem}e`));
}

/** People get the first letter right, and rather leave letters out or swap them than replace them. */
function likeness(word: string, candidate: string): number {
  const first = word[0] === candidate[0] ? 2 : 0;
  const letters = sorted(word) === sorted(candidate) ? 1 : 0;
  return first + letters;
}

function sorted(word: string): string {
  return word.split('').toSorted().join('');
}

/** Two words of the catalogue that were written as one. */
function joined(word: string, frequencyOf: Vocabulary['frequencyOf']): string | undefined {
  let best: { readonly text: string; readonly rarest: number } | undefined;
  for (let at = MIN_PART; at <= word.length - MIN_PART; at++) {
    const [head, tail] = [word.slice(0, at), word.slice(at)];
    const rarest = Math.min(frequencyOf(head), frequencyOf(tail));
    if (rarest > (best?.rarest ?? 0)) best = { text: `${head} ${tail}`, rarest };
  }
  return best?.text;
}
