import { type LexicalDocument, LexicalIndex } from './lexical-index.js';
import { VisibleWords } from './visible-words.js';

function indexOf(...descriptions: readonly (readonly [number, string])[]): LexicalDocument[] {
  const none = { name: '', server: '', parameters: '' };
  return descriptions.map(([id, description]) => ({ ...none, id, description }));
}

describe(VisibleWords, () => {
  const index = new LexicalIndex();
  index.update(
    indexOf(
      [1, 'list the files of a folder internal_account_id'],
      [2, 'send a letter'],
      [3, 'deploymet of bluefin'],
      [4, 'start a deployment'],
    ),
    [],
  );
  const seen = new Set([1, 2, 4]);
  const visible = new VisibleWords(index, undefined, seen);
  const shown = new LexicalIndex(index);
  shown.update(indexOf([1, 'list the warehouse']), []);
  const inView = new VisibleWords(index, shown, seen);
  const coverageOf = (words: VisibleWords, ...query: string[]): number | undefined =>
    words
      .coverage(
        query.map((word) => [word]),
        [1],
      )
      .get(1);

  it('have no word that only a hidden tool has: a query with it is covered like one with no word at all', () => {
    expect(visible.has('bluefin')).toBe(false);
    expect(visible.frequencyOf('bluefin')).toBe(0);
    expect(coverageOf(visible, 'list', 'bluefin')).toBe(coverageOf(visible, 'list', 'qqqq'));
    expect(coverageOf(visible, 'list', 'letter')).toBeGreaterThan(
      coverageOf(visible, 'list', 'bluefin') ?? 1,
    );
  });

  it('have the nearest visible word, whatever nearer words hidden tools have', () => {
    expect(visible.nearest('deplymet', 2)).toEqual([{ word: 'deployment', edits: 2 }]);
  });

  it('are those of the view for a tool that it shows otherwise', () => {
    expect(inView.matches('warehouse internal_account_id', [1]).get(1)).toEqual([
      { word: 'warehouse', fields: ['description'] },
    ]);
    expect(coverageOf(inView, 'warehouse')).toBe(1);
    expect(coverageOf(inView, 'files')).toBe(0);
    expect(inView.has('warehouse')).toBe(true);
    expect(inView.nearest('warehose', 2)).toEqual([{ word: 'warehouse', edits: 1 }]);
  });

  it('have no word that a tool has at its server alone: it changes the coverage of no other', () => {
    expect(inView.has('folder')).toBe(false);
    const of2 = (word: string) => inView.coverage([['letter'], [word]], [2]).get(2);
    expect(of2('folder')).toBe(of2('qqqq'));
  });

  it('are those of the server for all other tools', () => {
    expect(inView.matches('letter', [1, 2])).toEqual(
      new Map([
        [1, []],
        [2, [{ word: 'letter', fields: ['description'] }]],
      ]),
    );
  });

  it('are the same for a view of few tools and for one of many', () => {
    const large = new LexicalIndex();
    large.update(
      indexOf(
        ...Array.from({ length: 500 }, (_, i) => [i, i === 7 ? 'common rare' : 'common'] as const),
      ),
      [],
    );
    const few = new VisibleWords(large, undefined, new Set([7, 8, 900]));
    const many = new VisibleWords(
      large,
      undefined,
      new Set(Array.from({ length: 400 }, (_, i) => i)),
    );
    const none = new VisibleWords(large, undefined, new Set([900]));
    const frequencies = (words: VisibleWords) =>
      ['common', 'rare'].map((word) => words.frequencyOf(word));
    expect([few, many, none].map(frequencies)).toEqual([
      [2, 1],
      [400, 1],
      [0, 0],
    ]);
  });
});
