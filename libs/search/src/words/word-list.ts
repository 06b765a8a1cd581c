/** Longer words are data, shorter ones have too many neighbours. */
const MIN_LENGTH = 3;
const MAX_LENGTH = 24;
const PLAIN = /^[a-z]+$/;
/** Limits memory: a catalogue of 100,000 tools has some 50,000 words. */
const MAX_WORDS = 200_000;

export interface Neighbour {
  readonly word: string;
  /** Edits: a letter inserted, left out, replaced, or swapped with the next one. */
  readonly edits: number;
}

/** Words, and those among them that are a few edits away from a given one. */
export class WordList {
  private readonly known = new Set<string>();
  private readonly words: string[] = [];
  /** The letters of each word, a bit each: two words that are alike have nearly the same. */
  private letters = new Int32Array(1_024);

  has(word: string): boolean {
    return this.known.has(word);
  }

  add(word: string): void {
    if (this.known.has(word) || word.length < MIN_LENGTH || word.length > MAX_LENGTH) return;
    if (this.words.length >= MAX_WORDS || !PLAIN.test(word)) return;
    if (this.words.length === this.letters.length) {
      const grown = new Int32Array(2 * this.letters.length);
      grown.set(this.letters);
      this.letters = grown;
    }
    const own = Buffer.from(word).toString(); // a substring would keep the whole text in memory
    this.letters[this.words.length] = lettersOf(own);
    this.words.push(own);
    this.known.add(own);
  }

  /** Those with the fewest edits, in the order they were added. */
  nearest(word: string, maxEdits: number): readonly Neighbour[] {
    const letters = lettersOf(word);
    let best: Neighbour[] = [];
    let edits = maxEdits;
    for (const [i, candidate] of this.words.entries()) {
      if (Math.abs(candidate.length - word.length) > edits) continue;
      if (bitsOf(letters ^ (this.letters[i] ?? 0)) > 2 * edits) continue;
      const needed = editsBetween(word, candidate, edits);
      if (needed > edits || needed === 0) continue;
      if (needed < edits) best = [];
      edits = needed;
      best.push({ word: candidate, edits });
    }
    return best;
  }
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) letters |= 1 << (word.charCodeAt(i) - 97);
  return letters;
}

function bitsOf(value: number): number {
  let bits = 0;
  for (let left = value; left !== 0; left &= left - 1) bits++;
  return bits;
}

/** Optimal string alignment; more than `limit` if it is larger. */
export function editsBetween(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let lowest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row.push(edits);
      lowest = Math.min(lowest, edits);
    }
    if (lowest > limit) return limit + 1;
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
