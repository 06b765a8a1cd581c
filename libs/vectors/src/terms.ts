import { splitIdentifiers } from './tool-text.js';
import { stemmer } from 'stemmer';

/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from had has have
   how i if in into is it its just let like me my need no not of on or our out please she should so some
   than that the their them then there these they this to up us use using want was we were what when
   where which who will with would you your`.split(/\s+/),
);

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}]+|\p{N}+/gu;
/** Longer runs are data, not language. */
const MAX_TERM_LENGTH = 64;

/** What the lexical index compares: split, lower case, without stop words, stemmed; CJK per character. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const word of splitIdentifiers(text.normalize('NFKC')).match(WORD) ?? []) {
    const plain = word.toLowerCase();
    if (plain.length <= MAX_TERM_LENGTH && !STOP_WORDS.has(plain)) terms.push(stem(plain));
  }
  return terms;
}

const stems = new Map<string, string>();
/** Identifiers and descriptions repeat their words; a cap keeps hostile texts from filling memory. */
const MAX_STEMS = 50_000;

function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const stemmed = stemmer(word);
  if (stems.size < MAX_STEMS) stems.set(word, stemmed);
  return stemmed;
}
