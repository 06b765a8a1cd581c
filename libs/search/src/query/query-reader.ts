import { Injectable } from '@nestjs/common';
import { inSlices, type Sliced } from '@app/platform';
import { StaticModel } from '@app/vectors';
import { clausesOf } from '../rank/clauses.js';
import type { VisibleWords } from '../words/visible-words.js';
import { WordList } from '../words/word-list.js';
import { Languages } from './languages.js';
import { Corrections, type Vocabulary } from './spelling.js';
import { type Understood, understanding } from './understand.js';

/** The query, then its clauses. */
export type Texts = readonly [Understood, ...Understood[]];

/** Reads queries as tools describe themselves: in English, spelt right, without abbreviations. */
@Injectable()
export class QueryReader {
  private readonly languages = new Languages();
  private common: WordList | undefined;

  constructor(private readonly model: StaticModel) {}

  /** In slices if words have to be corrected. Words of tools that are not searched correct nothing. */
  read(query: string, searched: VisibleWords): Texts | Promise<Texts> {
    const reading = this.reading(query, this.vocabularyOf(searched));
    // Most queries have no such word, and do not wait for a turn.
    const first = reading.next();
    return first.done ? first.value : inSlices(reading);
  }

  private *reading(query: string, vocabulary: Vocabulary): Sliced<Texts> {
    const corrections = new Corrections(vocabulary);
    const whole = yield* understanding(query, vocabulary, this.languages, corrections);
    // Conjunctions of other languages are not known.
    if (whole.language !== undefined) return [whole];
    const clauses: Understood[] = [];
    for (const clause of clausesOf(query)) {
      clauses.push(yield* understanding(clause, vocabulary, this.languages, corrections));
    }
    return [whole, ...clauses];
  }

  private vocabularyOf(words: VisibleWords): Vocabulary {
    return {
      isUsed: remembered((word) => words.has(word)),
      frequencyOf: remembered((word) => words.frequencyOf(word)),
      nearest: (word, maxEdits) => words.nearest(word, maxEdits),
      others: this.commonWords(),
    };
  }

  private commonWords(): WordList {
    if (this.common) return this.common;
    const words = new WordList();
    for (const word of this.model.words()) words.add(word);
    this.common = words;
    return words;
  }
}

/** The clauses of a query have its words. */
function remembered<T>(of: (word: string) => T): (word: string) => T {
  const known = new Map<string, T>();
  return (word) => {
    const found = known.get(word) ?? of(word);
    known.set(word, found);
    return found;
  };
}
