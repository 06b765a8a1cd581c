import { distance } from 'fastest-levenshtein';
import { normalised } from './normalised.js';
import type { ScoredPassage, Source, UniquePassage } from './passage.js';

/** Share of characters (and of numbers) that two texts must have in common to count as one. */
const SAME = 0.8;

/** So many characters in a row are a gram; the smallest hashes of all of a text's grams are its sketch. */
const GRAM_CHARS = 8;
const SKETCH_SIZE = 32;
/** Texts that are the same by characters share so many hashes; short ones fewer, but they are quickly compared. */
const MIN_SHARED = 8;
const MIN_SHARED_IF_SHORT = 2;
const SHORT_CHARS = 300;
/** Only the most alike are compared by characters: of true twins one is always among them. */
const MAX_COMPARED = 2;
/** Of longer texts the beginnings are compared: it takes time by the square of the length. */
const COMPARED_CHARS = 1_000;

interface Kept {
  readonly passage: ScoredPassage;
  readonly text: string;
  readonly sources: Source[];
}

/**
 * Keeps the first of the passages that say the same, with the sources of all. Same means the same
 * normalised text, or a Levenshtein similarity above 80 %, looked for only where sketches are alike. Other numbers are another statement, however alike the words around them.
 */
export function withoutDuplicates(passages: readonly ScoredPassage[]): UniquePassage[] {
  const exact = new Map<string, Kept>();
  const bySketch = new Map<number, Kept[]>();
  const all: Kept[] = [];
  for (const passage of passages) {
    const text = normalised(passage.text);
    const sketch = sketchOf(text);
    const twin =
      exact.get(text) ??
      candidatesFor(text, sketch, bySketch).find((kept) => isSame(kept.text, text));
    if (twin) {
      addSource(twin.sources, passage);
      continue;
    }
    const kept = { passage, text, sources: [sourceOf(passage)] };
    all.push(kept);
    exact.set(text, kept);
    for (const hash of sketch) {
      const sharing = bySketch.get(hash);
      if (sharing) sharing.push(kept);
      else bySketch.set(hash, [kept]);
    }
  }
  return all.map(({ passage, sources }) => ({ ...passage, sources }));
}

/** Most alike first, the earlier kept first among equals. */
function candidatesFor(
  text: string,
  sketch: readonly number[],
  bySketch: ReadonlyMap<number, readonly Kept[]>,
): Kept[] {
  const shared = new Map<Kept, number>();
  for (const hash of sketch) {
    for (const kept of bySketch.get(hash) ?? []) shared.set(kept, (shared.get(kept) ?? 0) + 1);
  }
  const usual = text.length < SHORT_CHARS ? MIN_SHARED_IF_SHORT : MIN_SHARED;
  const least = Math.min(usual, sketch.length);
  return [...shared]
    .filter(([, count]) => count >= least)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_COMPARED)
    .map(([kept]) => kept);
}

function isSame(a: string, b: string): boolean {
  const longer = Math.max(a.length, b.length);
  const shorter = Math.min(a.length, b.length);
  if (shorter <= SAME * longer) return false;
  const length = Math.min(longer, COMPARED_CHARS);
  const edits = distance(a.slice(0, length), b.slice(0, length));
  return 1 - edits / length > SAME && overlap(numbersIn(a), numbersIn(b)) > SAME;
}

/** Words with a digit: counts, dates, versions, ids. */
function numbersIn(text: string): string[] {
  return text.split(' ').filter((word) => /\p{N}/u.test(word));
}

/** Shared elements ÷ all elements, each counted as often as it stands there; 1 when there are none. */
function overlap(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 && b.length === 0) return 1;
  const left = new Map<string, number>();
  for (const item of a) left.set(item, (left.get(item) ?? 0) + 1);
  let shared = 0;
  for (const item of b) {
    const count = left.get(item) ?? 0;
    if (count === 0) continue;
    shared++;
    left.set(item, count - 1);
  }
  return shared / (a.length + b.length - shared);
}

const BASE = 0x01000193;
const LEAVING = Array.from({ length: GRAM_CHARS }).reduce<number>(
  (power) => Math.imul(power, BASE),
  1,
);

/** Bottom-k MinHash: two texts share about as much of their sketches as of their grams. */
function sketchOf(text: string): number[] {
  const grams = Math.max(1, text.length - GRAM_CHARS + 1);
  // Only hashes that can be among the smallest are kept for sorting.
  const ceiling = Math.ceil((3 * SKETCH_SIZE * 2 ** 32) / grams);
  const smallest = new Set<number>();
  let rolling = 0;
  for (let i = 0; i < text.length; i++) {
    rolling = (Math.imul(rolling, BASE) + text.charCodeAt(i)) | 0;
    if (i >= GRAM_CHARS) {
      rolling = (rolling - Math.imul(text.charCodeAt(i - GRAM_CHARS), LEAVING)) | 0;
    }
    if (i < GRAM_CHARS - 1 && i < text.length - 1) continue;
    const hash = scattered(rolling);
    if (hash < ceiling) smallest.add(hash);
  }
  return [...smallest].sort((a, b) => a - b).slice(0, SKETCH_SIZE);
}

/** The end of MurmurHash3: neighbours in, strangers out. */
function scattered(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function addSource(sources: Source[], passage: ScoredPassage): void {
  const { server, tool, url } = passage;
  const known = sources.some((s) => s.server === server && s.tool === tool && s.url === url);
  if (!known) sources.push(sourceOf(passage));
}

function sourceOf({ server, tool, url }: ScoredPassage): Source {
  return { server, tool, ...(url !== undefined && { url }) };
}
