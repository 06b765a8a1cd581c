import { atOnce, type Sliced } from '@app/platform';
import { termsOf, TopScores } from '@app/vectors';
import type { Scored } from '../rank/ranking.js';
import { lettersOf } from '../query/exact-names.js';
import { WordList } from './word-list.js';

/** The indexed fields of one tool. */
export interface LexicalDocument {
  readonly id: number;
  readonly name: string;
  readonly server: string;
  readonly description: string;
  readonly parameters: string;
}

const FIELDS = ['name', 'server', 'description', 'parameters'] as const;
export type LexicalField = (typeof FIELDS)[number];
/** Weight and length discount of each field, measured in bench/SEARCH.md. */
const WEIGHTS = [2, 1.5, 1, 0.5] as const;
const LENGTH_DISCOUNT = [0.3, 0.3, 0.7, 0.5] as const;
const SATURATION = 1.2;

/**
 * A tool whose whole name is in the query is meant (`create_pull_request`, not `create_pull_request_review`): what its
 * name adds to the score falls steeply with each of its words that is not there.
 */
const NAME_SHARE = 0.5;
const NAME_STEEPNESS = 4;

const QUERY_WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** A word of a query, and the fields of a document that contain it. */
export interface MatchedWord {
  readonly word: string;
  readonly fields: readonly LexicalField[];
}

/** The frequencies of a term in the four fields are packed into one integer, seven bits each. */
const FREQUENCY_BITS = 7;
const MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1;

/**
 * BM25F over the fields of tools, in memory. Updates cost only what changed: statistics are kept as sums and
 * evaluated per query. Data is kept in typed arrays, because objects for 100,000 tools would load the garbage
 * collector during every call.
 */
export class LexicalIndex {
  private readonly postings = new Map<string, Postings>();
  /** By slot: the document id and the lengths of its fields. */
  private readonly ids = new Numbers();
  private readonly lengths = new Numbers();
  /** By slot: words of the name that are not of the server too. */
  private readonly ownWords = new Numbers();
  /** By slot: hashes of the name, and of server and name, without what is not a letter or digit. */
  private readonly names = new Numbers();
  /** Words as they are written, for corrections; those of removed documents stay. */
  readonly words = new WordList();
  private readonly slotOf = new Map<number, number>();
  private readonly free: number[] = [];
  private readonly totalLengths = [0, 0, 0, 0];
  private lengthNorms = new Float64Array(0);
  private normsAreFresh = false;
  private scores = new Float64Array(0);
  /** By slot: number and weights of the words of the name that a query has. */
  private named = new Float64Array(0);
  private nameWeights = new Float64Array(0);
  private changes = 0;
  private seen = 0;

  /** With the statistics of another index the scores of both can be compared. */
  constructor(private readonly statistics?: LexicalIndex) {}

  get size(): number {
    return this.slotOf.size;
  }

  /** Replaces documents with the same id. */
  update(added: readonly LexicalDocument[], removed: readonly number[]): void {
    atOnce(this.updating(added, removed));
  }

  /** The same in slices; until it finishes, searches find only part of the additions. */
  *updating(added: readonly LexicalDocument[], removed: readonly number[]): Sliced<void> {
    this.remove([...removed, ...added.map((document) => document.id)]);
    this.changes += 1;
    this.normsAreFresh = false;
    for (const document of added) {
      yield;
      this.add(document);
      this.normsAreFresh = false;
    }
  }

  /** The best accepted documents, best first. */
  search(query: string, limit: number, accepts: (id: number) => boolean): Scored[] {
    this.refreshNorms();
    const touched: number[] = [];
    // Repeating a word in a query does not raise its weight.
    for (const term of new Set(termsOf(query))) {
      const postings = this.postings.get(term);
      if (!postings) continue;
      const found = postings.size;
      const weight = (this.statistics ?? this).weightOf(term);
      for (let i = 0; i < found; i++) {
        const slot = postings.slotAt(i);
        const packed = postings.frequenciesAt(i);
        const frequency = this.weightedFrequency(slot, packed);
        const before = this.scores[slot] ?? 0;
        if (before === 0) touched.push(slot);
        this.scores[slot] = before + (weight * frequency) / (SATURATION + frequency);
        if (isOwnWord(packed, this.ownWords.at(slot))) {
          this.named[slot] = (this.named[slot] ?? 0) + 1;
          this.nameWeights[slot] = (this.nameWeights[slot] ?? 0) + weight;
        }
      }
    }
    const best = new TopScores(limit);
    for (const slot of touched) {
      const id = this.ids.at(slot);
      const ofName = nameShare(
        this.nameWeights[slot] ?? 0,
        this.named[slot] ?? 0,
        this.ownWords.at(slot),
      );
      const score = (this.scores[slot] ?? 0) + ofName;
      if (score > best.floor && accepts(id)) best.offer(id, score);
      this.scores[slot] = 0;
      this.named[slot] = 0;
      this.nameWeights[slot] = 0;
    }
    return best
      .entries()
      .map(({ key, score }) => ({ id: key, score }))
      .sort((a, b) => b.score - a.score || a.id - b.id);
  }

  /** What `search` would give a document that is not in the index. */
  scoreOf(query: string, document: Omit<LexicalDocument, 'id'>): number {
    const counts = FIELDS.map((field) => frequenciesOf(termsOf(document[field])));
    const lengths = FIELDS.map((field) => termsOf(document[field]).length);
    const own = ownTerms(termsOf(document.name), termsOf(document.server));
    let score = 0;
    let named = 0;
    let nameWeight = 0;
    for (const term of new Set(termsOf(query))) {
      const frequency = counts.reduce(
        (sum, ofField, field) =>
          sum + (ofField.get(term) ?? 0) * this.normOf(field, lengths[field] ?? 0),
        0,
      );
      const weight = this.weightOf(term);
      score += (weight * frequency) / (SATURATION + frequency);
      if (!own.has(term)) continue;
      named += 1;
      nameWeight += weight;
    }
    return score + nameShare(nameWeight, named, own.size);
  }

  /** Documents that probably have one of these names (equal hashes), alone or after the name of the server. */
  withName(names: readonly string[]): number[] {
    const found: number[] = [];
    for (const hash of new Set(names.map(lettersOf).filter(Boolean).map(hashOf))) {
      for (let at = this.names.indexOf(hash); at >= 0; at = this.names.indexOf(hash, at + 1)) {
        const id = this.ids.at(at >> 1);
        if (this.slotOf.get(id) === at >> 1) found.push(id);
      }
    }
    return found;
  }

  /** How many documents have a word in any form; 0 if no accepted one has it. */
  frequencyOf(word: string, accepts: (id: number) => boolean): number {
    const [term, ...others] = termsOf(word);
    const postings = others.length === 0 && term !== undefined && this.postings.get(term);
    if (!postings) return 0;
    for (let i = 0; i < postings.size; i++) {
      if (accepts(this.ids.at(postings.slotAt(i)))) return postings.size;
    }
    return 0;
  }

  /**
   * For each of these documents the share of a query that it has, each part weighted by how rare its words are. A part
   * is a word, or several of which one suffices.
   */
  coverage(
    parts: readonly (readonly string[])[],
    ids: readonly number[],
  ): ReadonlyMap<number, number> {
    const slots = ids.map((id) => this.slotOf.get(id));
    const covered = new Float64Array(ids.length);
    const ofPart = new Float64Array(ids.length);
    let total = 0;
    for (const part of parts) {
      const terms = [...new Set(part.flatMap((word) => termsOf(word)))];
      if (terms.length === 0) continue;
      ofPart.fill(0);
      let heaviest = 0;
      for (const term of terms) {
        const postings = this.postings.get(term);
        if (!postings) continue;
        const weight = this.weightOf(term);
        heaviest = Math.max(heaviest, weight);
        slots.forEach((slot, i) => {
          if (slot !== undefined && (ofPart[i] ?? 0) < weight && postings.has(slot))
            ofPart[i] = weight;
        });
      }
      total += heaviest || this.weightOf(terms[0] ?? '');
      for (let i = 0; i < covered.length; i++) covered[i] = (covered[i] ?? 0) + (ofPart[i] ?? 0);
    }
    return new Map(ids.map((id, i) => [id, total > 0 ? (covered[i] ?? 0) / total : 0]));
  }

  /** The words of a query that these documents contain, as the query writes them. */
  matches(query: string, ids: readonly number[]): ReadonlyMap<number, readonly MatchedWord[]> {
    const matched = new Map(ids.map((id) => [id, new Map<string, MatchedWord>()]));
    for (const word of new Set(query.match(QUERY_WORD) ?? [])) {
      for (const term of new Set(termsOf(word))) {
        const postings = this.postings.get(term);
        for (let i = 0; postings && i < postings.size; i++) {
          const known = matched.get(this.ids.at(postings.slotAt(i)));
          if (!known) continue;
          const fields = [
            ...(known.get(word)?.fields ?? []),
            ...fieldsIn(postings.frequenciesAt(i)),
          ];
          known.set(word, { word, fields: FIELDS.filter((field) => fields.includes(field)) });
        }
      }
    }
    return new Map([...matched].map(([id, words]) => [id, [...words.values()]]));
  }

  private weightOf(term: string): number {
    const found = this.postings.get(term)?.size ?? 0;
    return Math.log(1 + (this.size - found + 0.5) / (found + 0.5));
  }

  private averageLength(field: number): number {
    return (this.totalLengths[field] ?? 0) / this.size || 1;
  }

  private weightedFrequency(slot: number, packed: number): number {
    let sum = 0;
    for (let field = 0; field < FIELDS.length; field++) {
      const frequency = (packed >> (field * FREQUENCY_BITS)) & MAX_FREQUENCY;
      if (frequency > 0) sum += frequency * (this.lengthNorms[slot * FIELDS.length + field] ?? 0);
    }
    return sum;
  }

  /**
   * Weight ÷ length discount for every field of every document; depends on average lengths, which change with
   * every document.
   */
  private refreshNorms(): void {
    const { changes } = this.statistics ?? this;
    if (this.normsAreFresh && changes === this.seen) return;
    this.seen = changes;
    this.lengthNorms = new Float64Array(this.lengths.size);
    this.scores = new Float64Array(this.ids.size);
    this.named = new Float64Array(this.ids.size);
    this.nameWeights = new Float64Array(this.ids.size);
    for (let i = 0; i < this.lengths.size; i++) {
      this.lengthNorms[i] = this.normOf(i % FIELDS.length, this.lengths.at(i));
    }
    this.normsAreFresh = true;
  }

  private normOf(field: number, length: number): number {
    const average = (this.statistics ?? this).averageLength(field);
    const discount = LENGTH_DISCOUNT[field] ?? 0;
    return (WEIGHTS[field] ?? 0) / (1 - discount + (discount * length) / average);
  }

  private add(document: LexicalDocument): void {
    const slot = this.free.pop() ?? this.ids.size;
    const packed = new Map<string, number>();
    const termsIn = FIELDS.map((field) => termsOf(document[field], (word) => this.words.add(word)));
    termsIn.forEach((terms, position) => {
      for (const [term, frequency] of frequenciesOf(terms)) {
        const bits = Math.min(frequency, MAX_FREQUENCY) << (position * FREQUENCY_BITS);
        packed.set(term, (packed.get(term) ?? 0) | bits);
      }
      this.totalLengths[position] = (this.totalLengths[position] ?? 0) + terms.length;
      this.lengths.set(slot * FIELDS.length + position, terms.length);
    });
    for (const [term, frequencies] of packed) {
      let postings = this.postings.get(term);
      if (!postings) this.postings.set(term, (postings = new Postings()));
      postings.add(slot, frequencies);
    }
    const [name = [], server = []] = termsIn;
    this.ownWords.set(slot, storedCount(name, server));
    this.names.set(2 * slot, hashOf(lettersOf(document.name)));
    this.names.set(2 * slot + 1, hashOf(lettersOf(document.server + document.name)));
    this.ids.set(slot, document.id);
    this.slotOf.set(document.id, slot);
  }

  /** Filters each posting list once, so that removing many tools costs as much as removing one. */
  private remove(ids: readonly number[]): void {
    const gone = new Uint8Array(this.ids.size);
    let count = 0;
    for (const id of ids) {
      const slot = this.slotOf.get(id);
      if (slot === undefined) continue;
      gone[slot] = 1;
      count++;
      for (let field = 0; field < FIELDS.length; field++) {
        const length = this.lengths.at(slot * FIELDS.length + field);
        this.totalLengths[field] = (this.totalLengths[field] ?? 0) - length;
      }
      this.slotOf.delete(id);
      this.free.push(slot);
    }
    if (count === 0) return;
    for (const [term, postings] of this.postings) {
      postings.drop(gone);
      if (postings.size === 0) this.postings.delete(term);
    }
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash | 0;
}

/** Words of a name without those of its server; all of them if none is left. */
function ownTerms(name: readonly string[], server: readonly string[]): ReadonlySet<string> {
  const ofServer = new Set(server);
  const own = new Set(name.filter((term) => !ofServer.has(term)));
  return own.size > 0 ? own : new Set(name);
}

/** The number of own words; negative if they are those of the server. */
function storedCount(name: readonly string[], server: readonly string[]): number {
  const own = ownTerms(name, server);
  return name.length > 0 && server.includes(name.find((term) => own.has(term)) ?? '')
    ? -own.size
    : own.size;
}

/** Whether a term is an own word of the name, by its packed frequencies. */
function isOwnWord(packed: number, ownWords: number): boolean {
  if ((packed & MAX_FREQUENCY) === 0) return false;
  return ownWords < 0 || ((packed >> FREQUENCY_BITS) & MAX_FREQUENCY) === 0;
}

function nameShare(weight: number, named: number, ownWords: number): number {
  const count = Math.abs(ownWords);
  return count === 0 ? 0 : NAME_SHARE * weight * (named / count) ** NAME_STEEPNESS;
}

function fieldsIn(packed: number): LexicalField[] {
  return FIELDS.filter((_, field) => ((packed >> (field * FREQUENCY_BITS)) & MAX_FREQUENCY) > 0);
}

/** The documents that contain a term, with frequencies. */
class Postings {
  /** Alternating slots and frequencies. */
  private readonly pairs = new Numbers();
  private isSorted = true;

  get size(): number {
    return this.pairs.size / 2;
  }

  slotAt(i: number): number {
    return this.pairs.at(2 * i);
  }

  frequenciesAt(i: number): number {
    return this.pairs.at(2 * i + 1);
  }

  /** By bisection, unless slots were used again. */
  has(slot: number): boolean {
    if (!this.isSorted) {
      for (let i = 0; i < this.size; i++) if (this.slotAt(i) === slot) return true;
      return false;
    }
    let [low, high] = [0, this.size - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.slotAt(middle);
      if (found === slot) return true;
      if (found < slot) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }

  add(slot: number, frequencies: number): void {
    if (this.size > 0 && slot < this.slotAt(this.size - 1)) this.isSorted = false;
    this.pairs.set(this.pairs.size, slot);
    this.pairs.set(this.pairs.size, frequencies);
  }

  /** `gone` is 1 for each slot to remove. */
  drop(gone: Uint8Array): void {
    let kept = 0;
    for (let i = 0; i < this.size; i++) {
      const slot = this.slotAt(i);
      if (gone[slot] === 1) continue;
      this.pairs.set(2 * kept, slot);
      this.pairs.set(2 * kept + 1, this.frequenciesAt(i));
      kept++;
    }
    this.pairs.shorten(2 * kept);
  }
}

/** A growable list of 32-bit integers: a quarter of the memory of an array, and opaque to the garbage collector. */
class Numbers {
  private values = new Int32Array(4);
  private used = 0;

  get size(): number {
    return this.used;
  }

  at(i: number): number {
    return this.values[i] ?? 0;
  }

  set(i: number, value: number): void {
    if (i >= this.values.length) {
      const grown = new Int32Array(Math.max(i + 1, Math.ceil(this.values.length * 1.5)));
      grown.set(this.values);
      this.values = grown;
    }
    this.values[i] = value;
    if (i >= this.used) this.used = i + 1;
  }

  indexOf(value: number, from = 0): number {
    const at = this.values.indexOf(value, from);
    return at < this.used ? at : -1;
  }

  shorten(size: number): void {
    this.used = size;
  }
}

function frequenciesOf(terms: readonly string[]): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return frequencies;
}
