import type { Sliced } from '@app/platform';
import { splitIdentifiers } from '@app/vectors';
import { meaningOf } from './abbreviations.js';
import type { Languages } from './languages.js';
import { Corrections, type Vocabulary } from './spelling.js';

const CAPITAL = /^\p{Lu}/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** What a query probably means, in words that tools have. */
export interface Understood {
  /** As it was asked. */
  readonly text: string;
  /** The query with what was added, for the search by words. */
  readonly words: string;
  /** The same for the search by meaning, without the words of another language that were translated. */
  readonly meaning: string;
  /** ISO 639-1; undefined for English. */
  readonly language: string | undefined;
  readonly added: readonly string[];
  /** Each word of the query, or instead what it probably means: a tool that has one of these words has the word. */
  readonly parts: readonly (readonly string[])[];
}

/** Corrects, translates and spells out; a query of known English words stays as it is. */
export function* understanding(
  query: string,
  vocabulary: Vocabulary,
  languages: Languages,
  corrected = new Corrections(vocabulary),
): Sliced<Understood> {
  const words = wordsIn(query);
  const translation = languages.translate(query, vocabulary);
  const short = new Map(
    words
      .filter((word) => !translation?.isOwnWord(word))
      .flatMap((word) => toPair(word, meaningOf(word))),
  );
  const plain = words.filter((word) => !translation?.known.has(word.toLowerCase()));
  const corrections = new Map<string, string>();
  for (const [i, word] of plain.entries()) {
    if (short.has(word) || isName(word, i, plain)) continue;
    const correction = yield* corrected.of(word.toLowerCase());
    if (correction !== undefined) corrections.set(word, correction);
  }
  const translated = translation?.english ?? [];
  const added = [...translated.flat(), ...short.values(), ...corrections.values()];
  const rest = translation ? plain.join(' ') : query;
  const ofWord = (word: string): string[] => [
    word,
    ...(short.get(word) ?? corrections.get(word) ?? '').split(' ').filter(Boolean),
  ];
  return {
    text: query,
    words: [query, ...added].join(' '),
    meaning: [rest, ...added].join(' ').trim(),
    language: translation?.language,
    added,
    parts: [...translated, ...plain.map(ofWord)],
  };
}

function toPair(word: string, meaning: string | undefined): (readonly [string, string])[] {
  return meaning === undefined ? [] : [[word, meaning]];
}

/** A capital within a sentence: what is unknown there is a name. */
function isName(word: string, position: number, words: readonly string[]): boolean {
  return position > 0 && CAPITAL.test(word) && words.some((other) => !CAPITAL.test(other));
}

function wordsIn(query: string): string[] {
  return [...new Set(splitIdentifiers(query.normalize('NFKC')).match(WORD) ?? [])];
}
