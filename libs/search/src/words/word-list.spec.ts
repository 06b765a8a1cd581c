import fc from 'fast-check';
import { editsBetween, WordList } from './word-list.js';

const letters = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'd'),
  minLength: 3,
  maxLength: 7,
});

describe(WordList, () => {
  it('finds the same neighbours as a comparison with every word', () => {
    fc.assert(
      fc.property(fc.uniqueArray(letters, { maxLength: 30 }), letters, (words, word) => {
        const list = new WordList();
        for (const one of words) list.add(one);
        const distances = words.map((one) => [one, editsBetween(word, one, 9)] as const);
        const near = distances.filter(([, edits]) => edits > 0 && edits <= 2);
        const fewest = Math.min(...near.map(([, edits]) => edits));
        expect(list.nearest(word, 2).map((found) => found.word)).toEqual(
          near.filter(([, edits]) => edits === fewest).map(([one]) => one),
        );
      }),
    );
  });

  it('counts two swapped letters as one edit', () => {
    expect(editsBetween('serach', 'search', 2)).toBe(1);
  });

  it('keeps neither numbers nor data', () => {
    const list = new WordList();
    for (const word of ['v2', 'a1b2c3', 'x'.repeat(40)]) list.add(word);
    expect(list.nearest('v3', 2)).toEqual([]);
    expect(list.has('a1b2c3')).toBe(false);
  });
});
