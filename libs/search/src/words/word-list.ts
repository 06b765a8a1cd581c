import type { Sliced } from '@app/platform';

/** Longer words are data, shorter ones have too many neighbours. */
const MIN_LENGTH = 3;
const MAX_LENGTH = 24;
const PLAIN = /^[a-z]+$/;
/** Limits memory: a catalogue of 100,000 tools has some 50,000 words. */
const MAX_WORDS = 200_000;
/** Of them, those that one server was the first to use. */
const MAX_OF_OWNER = 20_000;
const WORDS_PER_STEP = 1_000;

export interface Neighbour {
  readonly word: string;
  /** Edits: a letter inserted, left out, replaced, or swapped with the next one. */
  readonly edits: number;
}

/** How many words an owner has in a list. */
interface Share {
  words: number;
}

/** Words, and those among them that are a few edits away from a given one. */
export class WordList {
  private readonly known = new Set<string>();
  private readonly words: string[] = [];
  /** The letters of each word, a bit each: two words that are alike have nearly the same. */
  private letters = new Int32Array(1_024);
  private readonly owners: (Share | undefined)[] = [];
  private readonly shares = new Map<string, Share>();

  get size(): number {
    return this.words.length;
  }

  has(word: string): boolean {
    return this.known.has(word);
  }

  /** `owner`: whose share of the list it takes. */
  add(word: string, owner?: string): void {
    if (this.known.has(word) || word.length < MIN_LENGTH || word.length > MAX_LENGTH) return;
    if (this.words.length >= MAX_WORDS || !PLAIN.test(word)) return;
    const share = owner === undefined ? undefined : this.shareOf(owner);
    if (share && share.words >= MAX_OF_OWNER) return;
    if (this.words.length === this.letters.length) {
      const grown = new Int32Array(2 * this.letters.length);
      grown.set(this.letters);
      this.letters = grown;
    }
    const own = Buffer.from(word).toString(); // a substring would keep the whole text in memory
    this.letters[this.words.length] = lettersOf(own);
    this.owners[this.words.length] = share;
    this.words.push(own);
    this.known.add(own);
    if (share) share.words += 1;
  }

  /** Removes words; until it finishes, some of the others are found twice. */
  *pruning(isKept: (word: string) => boolean): Sliced<void> {
    let kept = 0;
    for (const [i, word] of this.words.entries()) {
      if (i % WORDS_PER_STEP === 0) yield;
      const share = this.owners[i];
      if (!isKept(word)) {
        this.known.delete(word);
        if (share) share.words -= 1;
        continue;
      }
      this.words[kept] = word;
      this.letters[kept] = this.letters[i] ?? 0;
      this.owners[kept] = share;
      kept++;
    }
    this.words.length = kept;
    this.owners.length = kept;
    for (const [owner, { words }] of this.shares) if (words === 0) this.shares.delete(owner);
  }

  private shareOf(owner: string): Share {
    let share = this.shares.get(owner);
    if (!share) this.shares.set(owner, (share = { words: 0 }));
    return share;
  }

  /** Those of the accepted ones with the fewest edits, in the order they were added. */
  nearest(
    word: string,
    maxEdits: number,
    accepts: (word: string) => boolean = () => true,
  ): readonly Neighbour[] {
    const letters = lettersOf(word);
    let best: Neighbour[] = [];
    let edits = maxEdits;
    for (const [i, candidate] of this.words.entries()) {
      if (Math.abs(candidate.length - word.length) > edits) continue;
      if (bitsOf(letters ^ (this.letters[i] ?? 0)) > 2 * edits) continue;
      const needed = editsBetween(word, candidate, edits);
      if (needed > edits || needed === 0 || !accepts(candidate)) continue;
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
