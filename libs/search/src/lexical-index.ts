import { termsOf, TopScores } from '@app/vectors';
import type { Scored } from './ranking.js';

/** What the lexical index knows of one tool. */
export interface LexicalDocument {
  readonly id: number;
  readonly name: string;
  readonly server: string;
  readonly description: string;
  readonly parameters: string;
}

const FIELDS = ['name', 'server', 'description', 'parameters'] as const;
/** Measured in bench/SEARCH.md: how much a term counts in each field, and how much length discounts it. */
const WEIGHTS = [2, 1.5, 1, 0.5] as const;
const LENGTH_DISCOUNT = [0.3, 0.3, 0.7, 0.5] as const;
const SATURATION = 1.2;

/** Frequencies of one term in the four fields share one integer, seven bits each. */
const FREQUENCY_BITS = 7;
const MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1;

interface Postings {
  slots: number[];
  frequencies: number[];
}

interface Slot {
  readonly id: number;
  readonly terms: readonly string[];
  readonly lengths: readonly number[];
}

/**
 * BM25F over the fields of tools, in memory. Changes cost what changed: statistics are kept as sums
 * and read when a query comes.
 */
export class LexicalIndex {
  private readonly postings = new Map<string, Postings>();
  private readonly slots: (Slot | undefined)[] = [];
  private readonly slotOf = new Map<number, number>();
  private readonly free: number[] = [];
  private readonly totalLengths = [0, 0, 0, 0];
  private lengthNorms = new Float64Array(0);
  private normsAreFresh = false;
  private scores = new Float64Array(0);

  get size(): number {
    return this.slotOf.size;
  }

  /** Replaces documents of the same id. */
  update(added: readonly LexicalDocument[], removed: readonly number[]): void {
    this.remove([...removed, ...added.map((document) => document.id)]);
    for (const document of added) this.add(document);
    this.normsAreFresh = false;
  }

  /** The best of the documents that `accepts` lets pass, best first. */
  search(query: string, limit: number, accepts: (id: number) => boolean): Scored[] {
    this.refreshNorms();
    const touched: number[] = [];
    // A word said twice in a query is no more important for it.
    for (const term of new Set(termsOf(query))) {
      const postings = this.postings.get(term);
      if (!postings) continue;
      const found = postings.slots.length;
      const weight = Math.log(1 + (this.size - found + 0.5) / (found + 0.5));
      for (let i = 0; i < found; i++) {
        const slot = postings.slots[i] ?? 0;
        const frequency = this.weightedFrequency(slot, postings.frequencies[i] ?? 0);
        const before = this.scores[slot] ?? 0;
        if (before === 0) touched.push(slot);
        this.scores[slot] = before + (weight * frequency) / (SATURATION + frequency);
      }
    }
    const best = new TopScores(limit);
    for (const slot of touched) {
      const id = this.slots[slot]?.id;
      if (id !== undefined && accepts(id)) best.offer(id, this.scores[slot] ?? 0);
      this.scores[slot] = 0;
    }
    return best
      .entries()
      .map(({ key, score }) => ({ id: key, score }))
      .sort((a, b) => b.score - a.score || a.id - b.id);
  }

  private weightedFrequency(slot: number, packed: number): number {
    let sum = 0;
    for (let field = 0; field < FIELDS.length; field++) {
      const frequency = (packed >> (field * FREQUENCY_BITS)) & MAX_FREQUENCY;
      if (frequency > 0) sum += frequency * (this.lengthNorms[slot * FIELDS.length + field] ?? 0);
    }
    return sum;
  }

  /** Weight ÷ length discount of every field of every document; average lengths change with any document. */
  private refreshNorms(): void {
    if (this.normsAreFresh) return;
    this.lengthNorms = new Float64Array(this.slots.length * FIELDS.length);
    this.scores = new Float64Array(this.slots.length);
    this.slots.forEach((slot, index) => {
      slot?.lengths.forEach((length, field) => {
        const average = (this.totalLengths[field] ?? 0) / this.size || 1;
        const discount = LENGTH_DISCOUNT[field] ?? 0;
        this.lengthNorms[index * FIELDS.length + field] =
          (WEIGHTS[field] ?? 0) / (1 - discount + (discount * length) / average);
      });
    });
    this.normsAreFresh = true;
  }

  private add(document: LexicalDocument): void {
    const index = this.free.pop() ?? this.slots.length;
    const packed = new Map<string, number>();
    const lengths = FIELDS.map((field, position) => {
      const terms = termsOf(document[field]);
      for (const [term, frequency] of frequenciesOf(terms)) {
        const bits = Math.min(frequency, MAX_FREQUENCY) << (position * FREQUENCY_BITS);
        packed.set(term, (packed.get(term) ?? 0) | bits);
      }
      this.totalLengths[position] = (this.totalLengths[position] ?? 0) + terms.length;
      return terms.length;
    });
    for (const [term, frequencies] of packed) {
      let postings = this.postings.get(term);
      if (!postings) this.postings.set(term, (postings = { slots: [], frequencies: [] }));
      postings.slots.push(index);
      postings.frequencies.push(frequencies);
    }
    this.slots[index] = { id: document.id, terms: [...packed.keys()], lengths };
    this.slotOf.set(document.id, index);
  }

  /** Filters every touched list once, so that a server with many tools goes as fast as one tool. */
  private remove(ids: readonly number[]): void {
    const gone = new Set<number>();
    const terms = new Set<string>();
    for (const id of ids) {
      const index = this.slotOf.get(id);
      const slot = index === undefined ? undefined : this.slots[index];
      if (index === undefined || !slot) continue;
      gone.add(index);
      for (const term of slot.terms) terms.add(term);
      slot.lengths.forEach((length, field) => {
        this.totalLengths[field] = (this.totalLengths[field] ?? 0) - length;
      });
      this.slots[index] = undefined;
      this.slotOf.delete(id);
      this.free.push(index);
    }
    for (const term of terms) this.dropPostings(term, gone);
  }

  private dropPostings(term: string, gone: ReadonlySet<number>): void {
    const postings = this.postings.get(term);
    if (!postings) return;
    const keep = postings.slots.map((slot) => !gone.has(slot));
    postings.slots = postings.slots.filter((_, i) => keep[i]);
    postings.frequencies = postings.frequencies.filter((_, i) => keep[i]);
    if (postings.slots.length === 0) this.postings.delete(term);
  }
}

function frequenciesOf(terms: readonly string[]): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return frequencies;
}
