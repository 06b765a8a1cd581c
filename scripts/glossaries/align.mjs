// Which English words a word stands for, learned from parallel strings (IBM model 1 in both directions).
import { stemmer } from 'stemmer';

const ROUNDS = 5;
/** Longer strings say little about single words. */
const MAX_WORDS = 16;
/** Of a word that was seen once. */
const MIN_SHARE_OF_ONE = 0.3;
const MAX_TRANSLATIONS = 3;
/** Strings this short are entries themselves. */
const MAX_PHRASE = { words: 2, characters: 8 };
const HAN_OR_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const NULL = '';

/** Maps each word or phrase to its English words, the likeliest first; none for a function word. */
export function align(strings, language, isStopWord) {
  const pairs = strings
    .map(([foreign, english]) => ({
      foreign: wordsOf(foreign, language),
      english: wordsOf(english, 'en'),
    }))
    .filter(({ foreign, english }) => foreign.length > 0 && english.length > 0);
  const short = pairs
    .filter(({ foreign, english }) => foreign.length <= MAX_WORDS && english.length <= MAX_WORDS)
    .map((pair) => ({ ...pair, stems: pair.english.map(stemmer) }));
  const forward = train(short.map(({ foreign, stems }) => [foreign, stems]));
  const backward = train(short.map(({ foreign, stems }) => [stems, foreign]));
  const spelled = spellings(short);
  const counts = countsOf(short.flatMap(({ foreign }) => foreign));
  const entries = new Map();
  for (const [word, count] of counts) {
    if (!isWord(word, language)) continue;
    const likely = [...(forward.get(word) ?? [])]
      .map(([stem, share]) => [
        stem,
        Math.sqrt(share * (backward.get(stem)?.get(word) ?? 0)),
        share,
      ])
      .filter(([, both, share]) => both >= 0.12 && share >= 0.1)
      .sort((a, b) => b[1] - a[1]);
    if (likely.length === 0) continue;
    const best = likely[0][1];
    const translations = likely
      .filter(([, both]) => both >= best * 0.35)
      .map(([stem]) => spelled.get(`${word} ${stem}`))
      .filter((english) => !isStopWord(english));
    const others = translations.filter((english) => english.length > 1).slice(0, MAX_TRANSLATIONS);
    if (count === 1 && best < MIN_SHARE_OF_ONE) continue;
    entries.set(word, others);
  }
  addPhrases(entries, pairs, language, isStopWord);
  return entries;
}

function addPhrases(entries, pairs, language, isStopWord) {
  const phrases = new Map();
  const parts = new Map();
  for (const { foreign, english } of pairs) {
    const phrase = foreign.join(HAN_OR_KANA.test(foreign[0]) ? '' : ' ');
    const content = english.filter((word) => !isStopWord(word));
    const isShort = HAN_OR_KANA.test(phrase)
      ? phrase.length <= MAX_PHRASE.characters
      : foreign.length <= MAX_PHRASE.words;
    if (!isShort || foreign.length < 2 || content.length === 0 || content.length > 3) continue;
    const known = phrases.get(phrase) ?? new Map();
    const text = content.join(' ');
    phrases.set(phrase, known.set(text, (known.get(text) ?? 0) + 1));
    parts.set(phrase, foreign);
  }
  for (const [phrase, texts] of phrases) {
    const words = parts.get(phrase);
    const [[text]] = [...texts].sort((a, b) => b[1] - a[1]);
    if (isComposed(phrase, text, entries, words)) continue;
    entries.set(phrase, text.split(' '));
  }
}

/** Whether the words of a phrase give its translation already; in Chinese and Japanese, whether they give one. */
function isComposed(phrase, text, entries, parts) {
  if (HAN_OR_KANA.test(phrase)) {
    return parts.every((word) => (entries.get(word)?.length ?? 0) > 0);
  }
  const words = new Set(parts.flatMap((word) => entries.get(word) ?? [word]).map(stemmer));
  return text.split(' ').every((word) => words.has(stemmer(word)));
}

function isWord(word, language) {
  return language === 'zh' || language === 'ja' ? HAN_OR_KANA.test(word) : word.length > 1;
}

const PLACEHOLDER =
  /\{\{?[^}]*\}?\}|%[sd\d]\$?s?|`[^`]*`|<[^>]*>|&&|\$\([^)]*\)|https?:\S+|#[\w.]+#/g;
const WORD = /[\p{L}\p{M}]+/gu;
const segmenters = new Map();

export function wordsOf(text, language) {
  const plain = text.replace(PLACEHOLDER, ' ').normalize('NFKC').toLowerCase();
  if (language !== 'zh' && language !== 'ja') return plain.match(WORD) ?? [];
  let segmenter = segmenters.get(language);
  if (!segmenter)
    segmenters.set(language, (segmenter = new Intl.Segmenter(language, { granularity: 'word' })));
  return [...segmenter.segment(plain)]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
}

/** By source word, the probability of each target word. */
function train(pairs) {
  let shares;
  for (let round = 0; round < ROUNDS; round++) {
    const expected = new Map();
    for (const [from, to] of pairs) {
      const sources = [NULL, ...from];
      for (const target of to) {
        const weights = sources.map((source) =>
          shares ? (shares.get(source)?.get(target) ?? 0) : 1,
        );
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        if (total === 0) continue;
        sources.forEach((source, i) => {
          const row = expected.get(source) ?? new Map();
          expected.set(source, row);
          row.set(target, (row.get(target) ?? 0) + weights[i] / total);
        });
      }
    }
    for (const row of expected.values()) {
      const total = [...row.values()].reduce((sum, share) => sum + share, 0);
      for (const [target, share] of row) {
        if (round > 1 && share / total < 0.001) row.delete(target);
        else row.set(target, share / total);
      }
    }
    shares = expected;
  }
  return shares;
}

/** How each stem is mostly written in strings with a word. */
function spellings(pairs) {
  const counts = new Map();
  for (const { foreign, english, stems } of pairs) {
    for (const word of new Set(foreign)) {
      stems.forEach((stem, i) => {
        const key = `${word} ${stem}`;
        const written = counts.get(key) ?? {};
        written[english[i]] = (written[english[i]] ?? 0) + 1;
        counts.set(key, written);
      });
    }
  }
  return new Map(
    [...counts].map(([key, written]) => [
      key,
      Object.entries(written).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0][0],
    ]),
  );
}

function countsOf(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
