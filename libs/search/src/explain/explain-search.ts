import { Injectable } from '@nestjs/common';
import type { MatchedSkill } from '../rank/match-skills.js';
import type { Hits } from '../rank/ranking.js';
import type { MatchedWord } from '../words/lexical-index.js';
import type { VisibleWords } from '../words/visible-words.js';
import { type HitShares, sharesOf } from './hit-shares.js';
import { type LeftOut, LeftOutTools, type Searched } from './left-out.js';

export interface HitExplanation extends HitShares {
  /** The best matched skill of the tool. It decides which tools come first, and adds nothing to the score. */
  readonly skill: MatchedSkill | undefined;
  readonly words: readonly MatchedWord[];
}

export interface SearchExplanation {
  readonly embeddingModel: string | undefined;
  /** ISO 639-1; undefined for English. */
  readonly language: string | undefined;
  /** Words that were added to the query: corrections, translations, what abbreviations stand for. */
  readonly addedWords: readonly string[];
  /** The intents of the query; empty if it has only one. */
  readonly clauses: readonly string[];
  readonly toolThreshold: number;
  readonly skillThreshold: number;
  /** By tool id. */
  readonly hits: ReadonlyMap<number, HitExplanation>;
  /** Undefined for callers who may not know. */
  readonly leftOut: LeftOut | undefined;
}

export interface ExplainedSearch extends Searched {
  /** Tools whose exact name is in the query. */
  readonly named: ReadonlySet<number>;
  readonly embeddingModel: string | undefined;
  readonly skillThreshold: number;
  readonly matchedSkills: readonly MatchedSkill[];
  readonly found: readonly { readonly id: number; readonly skillIds: readonly string[] }[];
  readonly visible: VisibleWords;
  /** Whether the caller may know of tools that it is not offered. */
  readonly mayKnow: boolean;
}

/** Explains a search that was done: nothing here is on the way of one without `explain`. */
@Injectable()
export class SearchExplainer {
  constructor(private readonly leftOut: LeftOutTools) {}

  async explain(search: ExplainedSearch): Promise<SearchExplanation> {
    const { texts, hits, found, matchedSkills } = search;
    const [query, ...clauses] = texts;
    const [whole = NO_HITS, ...ofClauses] = hits;
    const ids = found.map(({ id }) => id);
    const shares = sharesOf({ whole, clauses: ofClauses, named: search.named }, ids);
    const words = search.visible.matches(query.words, ids);
    const explained = found.flatMap(({ id, skillIds }) => {
      const ofHit = shares.get(id);
      const skill = matchedSkills.find((matched) => skillIds.includes(matched.id));
      if (!ofHit) return [];
      // It depends on how rare the words are, in tools that the caller may not see too.
      const bm25 = search.mayKnow ? ofHit.bm25 : null;
      return [[id, { ...ofHit, bm25, skill, words: words.get(id) ?? [] }] as const];
    });
    return {
      embeddingModel: search.embeddingModel,
      language: query.language,
      addedWords: query.added,
      clauses: clauses.map(({ text }) => text),
      toolThreshold: search.threshold,
      skillThreshold: search.skillThreshold,
      hits: new Map(explained),
      leftOut: search.mayKnow ? await this.leftOut.find(search) : undefined,
    };
  }
}

const NO_HITS: Hits = { lexical: [], dense: undefined, depth: 0 };
