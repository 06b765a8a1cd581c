import type { WordList } from '../words/word-list.js';

const MIN_LENGTH = 4;
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
  /** Whether it is a word of the catalogue. */
  readonly isUsed: (word: string) => boolean;
  readonly used: WordList;
  /** How many tools have the word; 0 if no searched tool has it. */
  readonly frequencyOf: (word: string) => number;
  /** Other English words, those of the embedding model. */
  readonly others: WordList;
}

/**
 * What a word was probably meant to be; undefined for a word that is known or has no neighbour. Words of the catalogue
 * come first: a correction to another word finds nothing by itself.
 */
export function correct(word: string, vocabulary: Vocabulary): string | undefined {
  const { used, others, isUsed, frequencyOf } = vocabulary;
  if (word.length < MIN_LENGTH || !PLAIN.test(word)) return undefined;
  if (isUsed(word) || isForm(word, others)) return undefined;
  const edits = word.length >= LONG ? 2 : 1;
  const near = used.nearest(word, edits).filter((neighbour) => frequencyOf(neighbour.word) > 0);
  if (near.length > 0) {
    const best = near.map(({ word: candidate }) => ({
      candidate,
      likeness: likeness(word, candidate),
      frequency: frequencyOf(candidate),
    }));
    best.sort((a, b) => b.likeness - a.likeness || b.frequency - a.frequency);
    return best[0]?.candidate;
  }
  return (
    joined(word, frequencyOf) ??
    (word.length < MIN_OTHER ? undefined : others.nearest(word, 1)[0]?.word)
  );
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
