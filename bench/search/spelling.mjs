import { judge, mean, randomNumbers } from './metrics.mjs';

/** Words of a query with a typing error: none, one of ten, of four, of two. */
const SHARES = [0, 0.1, 0.25, 0.5];
const QUERIES = 150;
const MIN_LETTERS = 5;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Recall@5 of the service and of a search by words alone, of queries with more and more typing errors. */
export async function spellingCurve(set, searches) {
  const step = Math.max(1, Math.floor(set.queries.length / QUERIES));
  const queries = set.queries.filter((_, i) => i % step === 0).slice(0, QUERIES);
  const rows = [];
  for (const share of SHARES) {
    const row = [set.name, `${100 * share} %`];
    for (const search of searches) {
      const random = randomNumbers(1);
      const recalls = [];
      for (const { text, relevant } of queries) {
        const query = misspelt(text.slice(0, 2_000), share, random);
        recalls.push(judge(await search(query), relevant).recall5);
      }
      row.push((100 * mean(recalls)).toFixed(1));
    }
    rows.push(`| ${row.join(' | ')} |`);
  }
  return rows;
}

/** With so large a share of the longer words one edit away: a letter lost, doubled, replaced, or two exchanged. */
function misspelt(text, share, random) {
  return text.replace(/[A-Za-z]+/g, (word) => {
    const [chance, kind, place, letter] = [random(), random(), random(), random()];
    if (word.length < MIN_LETTERS || chance >= share) return word;
    const at = 1 + Math.floor(place * (word.length - 2));
    const [before, here, after] = [word.slice(0, at), word[at], word.slice(at + 1)];
    if (kind < 0.25) return before + after;
    if (kind < 0.5) return before + here + here + after;
    if (kind < 0.75) return before + LETTERS[Math.floor(letter * LETTERS.length)] + after;
    return before + after.slice(0, 1) + here + after.slice(1);
  });
}
