import { splitIdentifiers } from './embedding-text.js';
import { stemmer } from 'stemmer';

/** English function words, which do not distinguish tools. */
const STOP_WORDS = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from had has have
   how i if in into is it its just let like me my need no not of on or our out please she should so some
   than that the their them then there these they this to up us use using want was we were what when
   where which who will with would you your`.split(/\s+/),
);

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}]+|\p{N}+/gu;
/** Longer words are data, not language. */
const MAX_TERM_LENGTH = 64;

/** Limits NFKC, which expands some characters: U+FDFA becomes 18. */
const GROWTH = 2;

/**
 * Terms for the lexical index: split, lower case, without stop words, stemmed; one per CJK character. `onWord` is told
 * of each word before it is stemmed.
 */
export function termsOf(text: string, onWord?: (word: string) => void): string[] {
  const terms: string[] = [];
  const plainText = text.normalize('NFKC').slice(0, Math.max(100, GROWTH * text.length));
  for (const word of splitIdentifiers(plainText).match(WORD) ?? []) {
    const plain = word.toLowerCase();
    if (plain.length > MAX_TERM_LENGTH || STOP_WORDS.has(plain)) continue;
    onWord?.(plain);
    terms.push(stem(plain));
  }
  return terms;
}

const stems = new Map<string, string>();
/** Limits the cache. It starts again, because hostile texts would fill it for ever. */
const MAX_STEMS = 50_000;

function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= MAX_STEMS) stems.clear();
  // A copy: a substring would keep the whole text in memory.
  const own = Buffer.from(word).toString();
  const stemmed = stemmer(own);
  stems.set(own, stemmed);
  return stemmed;
}
