import { atOnce, type Sliced } from '@app/platform';
import { termsOf, TopScores } from '@app/vectors';
import type { Scored } from '../rank/ranking.js';
import { lettersOf } from '../query/exact-names.js';
import { Numbers, Postings } from './postings.js';
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

/** Ids of documents, such as a set or the keys of a map. `has` may refuse some of the keys. */
export interface Accepted {
  readonly size: number;
  has(id: number): boolean;
  keys(): Iterable<number>;
}

/** The frequencies of a term in the four fields are packed into one integer, seven bits each. */
const FREQUENCY_BITS = 7;
const MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1;
/** Words that more documents have are equally frequent. */
const MAX_COUNTED = 1_000;
/** Looked at between two yields: some 0.2 ms. */
const TERMS_PER_STEP = 2_000;
/** When so many terms are gone, and so large a share of the words, their words leave the list. */
const MIN_GONE_TERMS = 1_000;
const MAX_GONE_SHARE = 1 / 8;

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
  /** Words as they are written, for corrections; some of those of removed documents stay for a while. */
  readonly words = new WordList();
  /** Terms that no document has any more, whose words are still in the list. */
  private goneTerms = 0;
  private readonly slotOf = new Map<number, number>();
  /** The smallest last, so that slots are used again in order. */
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

  /** The same in slices; until it finishes, searches find part of the additions, and of what was removed. */
  *updating(added: readonly LexicalDocument[], removed: readonly number[]): Sliced<void> {
    yield* this.removing([...removed, ...added.map((document) => document.id)]);
    for (const document of added) {
      yield;
      this.add(document);
      this.noteChange();
    }
  }

  private noteChange(): void {
    this.changes += 1;
    this.normsAreFresh = false;
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
      .map((id, score) => ({ id, score }))
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

  hasDocument(id: number): boolean {
    return this.slotOf.has(id);
  }

  /** Whether an accepted document has the word in any form. */
  has(word: string, accepted: Accepted): boolean {
    const [term, ...others] = termsOf(word);
    return others.length === 0 && term !== undefined && this.hasTerm(term, accepted);
  }

  hasTerm(term: string, accepted: Accepted): boolean {
    return this.countOf(term, accepted, 1) > 0;
  }

  /** How many accepted documents have the word in any form; of more than a thousand this is not counted. */
  frequencyOf(word: string, accepted: Accepted): number {
    const [term, ...others] = termsOf(word);
    if (others.length > 0 || term === undefined) return 0;
    return this.countOf(term, accepted, MAX_COUNTED);
  }

  /**
   * For each of these documents the share of a query that it has, each part weighted by how rare its words are. A part
   * is a word, or several of which one suffices. Terms that are not known count as ones that no document has.
   */
  coverage(
    parts: readonly (readonly string[])[],
    ids: readonly number[],
    isKnown: (term: string) => boolean,
  ): ReadonlyMap<number, number> {
    const statistics = this.statistics ?? this;
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
        if (!isKnown(term)) continue;
        const postings = this.postings.get(term);
        const weight = statistics.weightOf(term);
        heaviest = Math.max(heaviest, weight);
        slots.forEach((slot, i) => {
          if (slot !== undefined && (ofPart[i] ?? 0) < weight && postings?.has(slot))
            ofPart[i] = weight;
        });
      }
      total += heaviest || statistics.weightIn(0);
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

  /** Looks through the fewer of both: a view may offer twenty tools, and 100,000 have a common word. */
  private countOf(term: string, accepted: Accepted, enough: number): number {
    const postings = this.postings.get(term);
    if (!postings) return 0;
    let count = 0;
    if (accepted.size * Math.log2(postings.size + 1) < postings.size) {
      for (const id of accepted.keys()) {
        const slot = this.slotOf.get(id);
        if (slot !== undefined && postings.has(slot) && accepted.has(id)) count++;
        if (count >= enough) break;
      }
      return count;
    }
    for (let i = 0; count < enough && i < postings.size; i++) {
      if (accepted.has(this.ids.at(postings.slotAt(i)))) count++;
    }
    return count;
  }

  private weightOf(term: string): number {
    return this.weightIn(this.postings.get(term)?.size ?? 0);
  }

  /** Of a term that so many documents have. */
  private weightIn(found: number): number {
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
    const addWord = (word: string): void => this.words.add(word, document.server);
    const termsIn = FIELDS.map((field) => termsOf(document[field], addWord));
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

  /** Looks at each list of postings once, at all of it only if many documents are removed. */
  private *removing(ids: readonly number[]): Sliced<void> {
    const slots = ids.flatMap((id) => this.forget(id) ?? []).sort((a, b) => a - b);
    if (slots.length === 0) return;
    this.noteChange();
    const gone = { slots, isGone: new Uint8Array(this.ids.size) };
    for (const slot of slots) gone.isGone[slot] = 1;
    let looked = 0;
    for (const [term, postings] of this.postings) {
      if (++looked % TERMS_PER_STEP === 0) yield;
      postings.drop(gone);
      if (postings.size > 0) continue;
      this.postings.delete(term);
      this.goneTerms++;
    }
    for (const slot of slots) this.free.push(slot);
    this.free.sort((a, b) => b - a);
    if (this.goneTerms > Math.max(MIN_GONE_TERMS, this.words.size * MAX_GONE_SHARE)) {
      yield* this.words.pruning((word) => termsOf(word).some((term) => this.postings.has(term)));
      this.goneTerms = 0;
    }
  }

  /** The slot of a document that is no longer in the index. */
  private forget(id: number): number | undefined {
    const slot = this.slotOf.get(id);
    if (slot === undefined) return undefined;
    for (let field = 0; field < FIELDS.length; field++) {
      const length = this.lengths.at(slot * FIELDS.length + field);
      this.totalLengths[field] = (this.totalLengths[field] ?? 0) - length;
    }
    this.slotOf.delete(id);
    return slot;
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

function frequenciesOf(terms: readonly string[]): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return frequencies;
}
