import { atOnce, type Sliced } from '@app/platform';
import { isWithinEdits, isWithinManyEdits } from './edit-distance.js';
import { normaliseText } from './normalise-text.js';
import type { ScoredPassage, Source, UniquePassage } from '../read/passage.js';

/** Two texts with a Levenshtein similarity above this are duplicates. */
const SAME = 0.8;

/** MinHash: a text's sketch is the smallest hashes of its character n-grams. */
const GRAM_CHARS = 8;
const SKETCH_SIZE = 32;
/** Hashes that two sketches must share before the texts are compared; fewer for short texts. */
const MIN_SHARED = 8;
const MIN_SHARED_IF_SHORT = 2;
const SHORT_CHARS = 300;
/** Texts kept per hash; without a limit, boilerplate in all texts takes quadratic time. */
const MAX_SHARING = 100;
/** Candidates compared by characters, most shared hashes first. */
const MAX_COMPARED = 2;
/** Longer texts are compared by their beginnings: Levenshtein takes quadratic time. */
const COMPARED_CHARS = 1_000;

/** Up to here isWithinEdits is faster than isWithinManyEdits. */
const FEW_EDITS = 32;

interface Compared {
  readonly passage: ScoredPassage;
  /** Normalised. */
  readonly text: string;
  /** What must be equal in duplicates; found when a candidate is compared, because most passages have none. */
  names?: string;
}

interface KeptPassage extends Compared {
  readonly sources: Source[];
  readonly duplicates: ScoredPassage[];
}

/**
 * Keeps the first of duplicate passages, with the sources of all. Duplicates have the same normalised
 * text, or similar sketches, a Levenshtein similarity above 80 % and the same numbers, versions and
 * identifiers (contract R49).
 */
export function withoutDuplicates(passages: readonly ScoredPassage[]): UniquePassage[] {
  return atOnce(uniquePassages(passages));
}

/** In slices. */
export function* uniquePassages(passages: readonly ScoredPassage[]): Sliced<UniquePassage[]> {
  const exact = new Map<string, KeptPassage>();
  const bySketch = new Map<number, KeptPassage[]>();
  const all: KeptPassage[] = [];
  for (const passage of passages) {
    yield;
    const text = normaliseText(passage.text);
    const sketch = sketchOf(text);
    const compared: Compared = { passage, text };
    const twin =
      exact.get(text) ??
      candidatesFor(text, sketch, bySketch).find((kept) => isSame(kept, compared));
    if (twin) {
      addSource(twin.sources, passage);
      twin.duplicates.push(passage);
      continue;
    }
    const kept: KeptPassage = { ...compared, sources: [sourceOf(passage)], duplicates: [] };
    all.push(kept);
    exact.set(text, kept);
    for (const hash of sketch) {
      const sharing = bySketch.get(hash);
      if (sharing && sharing.length < MAX_SHARING) sharing.push(kept);
      else if (!sharing) bySketch.set(hash, [kept]);
    }
  }
  return all.map(({ passage, sources, duplicates }) => ({ ...passage, sources, duplicates }));
}

/** Most shared hashes first; among equals, in the order of the passages. */
function candidatesFor(
  text: string,
  sketch: readonly number[],
  bySketch: ReadonlyMap<number, readonly KeptPassage[]>,
): KeptPassage[] {
  const shared = new Map<KeptPassage, number>();
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

function isSame(a: Compared, b: Compared): boolean {
  const longer = Math.max(a.text.length, b.text.length);
  const shorter = Math.min(a.text.length, b.text.length);
  if (shorter <= SAME * longer || namesOf(a) !== namesOf(b)) return false;
  const length = Math.min(longer, COMPARED_CHARS);
  // The most edits that leave a similarity above SAME.
  const edits = Math.ceil(length * (1 - SAME)) - 1;
  const [one, other] = [a.text.slice(0, length), b.text.slice(0, length)];
  return (
    isWithinEdits(one, other, Math.min(edits, FEW_EDITS)) || isWithinManyEdits(one, other, edits)
  );
}

function namesOf(compared: Compared): string {
  return (compared.names ??= namesIn(compared.text, compared.passage.text));
}

const URLS = /\p{L}+:\/\/\S+/gu;
const WORDS = /[\p{L}\p{N}_$]+(?:[.:/#@-]+[\p{L}\p{N}_$]+)*/gu;
/** `getUser`, `get_user`, `user.get`, `users/get`, `GET`. */
const IDENTIFIER = /\p{Ll}\p{Lu}|[_$]|[.:/#@](?!$)|^\p{Lu}{2,}$/u;

/**
 * What must be equal in duplicates, as one line: words with a digit (counts, dates, versions, ids) in
 * their order, and identifiers. URLs count only with their digits: copies of a text have different URLs.
 */
function namesIn(normalised: string, text: string): string {
  const numbers = normalised.split(' ').filter((word) => /\p{N}/u.test(word));
  const words = text.replace(URLS, ' ').match(WORDS) ?? [];
  const identifiers = new Set(words.filter((word) => IDENTIFIER.test(word)));
  return `${numbers.join(' ')}; ${[...identifiers].toSorted().join(' ')}`;
}

const BASE = 0x01000193;
const LEAVING = Array.from({ length: GRAM_CHARS }).reduce<number>(
  (power) => Math.imul(power, BASE),
  1,
);

/** Bottom-k MinHash: the overlap of two sketches estimates the overlap of the n-grams. */
function sketchOf(text: string): number[] {
  const grams = Math.max(1, text.length - GRAM_CHARS + 1);
  // Skips hashes that are almost certainly too large, so that few are sorted.
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

/** The finalizer of MurmurHash3, which spreads similar inputs. */
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
