import { Injectable } from '@nestjs/common';
import { StaticModel } from '@app/vectors';
import { clausesOf } from '../rank/clauses.js';
import { LexicalTools } from '../words/lexical-tools.js';
import { WordList } from '../words/word-list.js';
import { Languages } from './languages.js';
import type { Vocabulary } from './spelling.js';
import { understand, type Understood } from './understand.js';

/** Reads queries as tools describe themselves: in English, spelt right, without abbreviations. */
@Injectable()
export class QueryReader {
  private readonly languages = new Languages();
  private common: WordList | undefined;

  constructor(
    private readonly lexical: LexicalTools,
    private readonly model: StaticModel,
  ) {}

  /** The query, then its clauses. Words of tools that are not searched correct nothing. */
  read(query: string, isSearched: (id: number) => boolean): readonly [Understood, ...Understood[]] {
    const vocabulary = this.vocabularyOf(isSearched);
    const whole = understand(query, vocabulary, this.languages);
    // Conjunctions of other languages are not known.
    if (whole.language !== undefined) return [whole];
    const clauses = clausesOf(query).map((clause) =>
      understand(clause, vocabulary, this.languages),
    );
    return [whole, ...clauses];
  }

  private vocabularyOf(isSearched: (id: number) => boolean): Vocabulary {
    const { index } = this.lexical;
    const frequencyOf = (word: string): number => index.frequencyOf(word, isSearched);
    return {
      used: index.words,
      isUsed: (word) => frequencyOf(word) > 0,
      frequencyOf,
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
