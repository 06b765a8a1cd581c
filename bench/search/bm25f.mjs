// BM25F as the README of the evaluation data describes it, without any code of the service.
import { stemmer } from 'stemmer';

const FIELDS = [
  { name: 'name', weight: 2, discount: 0.3 },
  { name: 'server', weight: 1.5, discount: 0.3 },
  { name: 'description', weight: 1, discount: 0.7 },
  { name: 'parameters', weight: 0.5, discount: 0.5 },
];
/** Plain BM25: all texts in one field. */
const ONE_FIELD = [{ name: 'text', weight: 1, discount: 0.75 }];
const K1 = 1.2;
const STOP_WORDS = new Set(
  `a an and any are as at be but by can do for from has have how i if in into is it its me my of on or our
   please so that the their them then there these they this to up us use using want was we what when where
   which who will with would you your`.split(/\s+/),
);

export function termsIn(text) {
  const split = text.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').replace(/[_./:-]+/g, ' ');
  return (split.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .map(stemmer);
}

/** Scores of all documents for a text; documents have a text for each field. */
export function bm25f(documents) {
  return scorer(documents, FIELDS);
}

export function plainBm25(documents) {
  const texts = documents.map((document) => ({ text: Object.values(document).join(' ') }));
  return scorer(texts, ONE_FIELD);
}

function scorer(documents, fields) {
  const terms = documents.map((document) =>
    fields.map(({ name }) => termsIn(document[name] ?? '')),
  );
  const averages = fields.map(
    (_, i) => terms.reduce((sum, all) => sum + all[i].length, 0) / documents.length || 1,
  );
  const postings = new Map();
  terms.forEach((all, id) => {
    const frequencies = new Map();
    all.forEach((ofField, i) => {
      const { weight, discount } = fields[i];
      const norm = 1 - discount + (discount * ofField.length) / averages[i];
      for (const term of ofField) {
        frequencies.set(term, (frequencies.get(term) ?? 0) + weight / norm);
      }
    });
    for (const [term, frequency] of frequencies) {
      if (!postings.has(term)) postings.set(term, []);
      postings.get(term).push([id, frequency]);
    }
  });
  return (text) => {
    const scores = new Float64Array(documents.length);
    for (const term of new Set(termsIn(text))) {
      const found = postings.get(term) ?? [];
      const idf = Math.log(1 + (documents.length - found.length + 0.5) / (found.length + 0.5));
      for (const [id, frequency] of found) scores[id] += (idf * frequency) / (K1 + frequency);
    }
    return scores;
  };
}
