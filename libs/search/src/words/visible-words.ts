import type { Accepted, LexicalIndex, MatchedWord } from './lexical-index.js';
import type { Neighbour } from './word-list.js';

/**
 * The words of the tools that a caller sees, as it sees them: those of the server, or those that its view shows instead.
 * Which words other tools have is not told, by no number.
 */
export class VisibleWords {
  /** Visible tools that are shown as their servers define them. */
  private readonly asDefined: Accepted;

  constructor(
    private readonly index: LexicalIndex,
    /** Of tools that the view shows otherwise than their servers define them. */
    private readonly shown: LexicalIndex | undefined,
    private readonly visible: Accepted,
  ) {
    this.asDefined = shown
      ? {
          size: visible.size,
          has: (id) => visible.has(id) && !shown.hasDocument(id),
          keys: () => visible.keys(),
        }
      : visible;
  }

  has(word: string): boolean {
    return this.index.has(word, this.asDefined) || (this.shown?.has(word, this.visible) ?? false);
  }

  /** How many of the tools have the word in any form. */
  frequencyOf(word: string): number {
    return (
      this.index.frequencyOf(word, this.asDefined) +
      (this.shown?.frequencyOf(word, this.visible) ?? 0)
    );
  }

  /** The nearest words, those with the fewest edits. */
  nearest(word: string, maxEdits: number): readonly Neighbour[] {
    const isKnown = (other: string): boolean => this.has(other);
    const near = this.index.words.nearest(word, maxEdits, isKnown);
    if (!this.shown) return near;
    const others = this.shown.words.nearest(word, near[0]?.edits ?? maxEdits, isKnown);
    const fewest = Math.min(...[...near, ...others].map(({ edits }) => edits));
    const isNew = (other: Neighbour): boolean => near.every((one) => one.word !== other.word);
    return [...near, ...others.filter(isNew)].filter(({ edits }) => edits === fewest);
  }

  /** As `LexicalIndex.coverage`. */
  coverage(
    parts: readonly (readonly string[])[],
    ids: readonly number[],
  ): ReadonlyMap<number, number> {
    const isKnown = (term: string): boolean =>
      this.index.hasTerm(term, this.asDefined) ||
      (this.shown?.hasTerm(term, this.visible) ?? false);
    return this.ofEach(ids, (index, some) => index.coverage(parts, some, isKnown));
  }

  /** As `LexicalIndex.matches`. */
  matches(query: string, ids: readonly number[]): ReadonlyMap<number, readonly MatchedWord[]> {
    return this.ofEach(ids, (index, some) => index.matches(query, some));
  }

  private ofEach<T>(
    ids: readonly number[],
    of: (index: LexicalIndex, ids: readonly number[]) => ReadonlyMap<number, T>,
  ): ReadonlyMap<number, T> {
    const { shown } = this;
    if (!shown) return of(this.index, ids);
    const asDefined = ids.filter((id) => !shown.hasDocument(id));
    const asShown = ids.filter((id) => shown.hasDocument(id));
    return new Map([...of(this.index, asDefined), ...of(shown, asShown)]);
  }
}
