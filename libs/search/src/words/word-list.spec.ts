import fc from 'fast-check';
import { atOnce } from '@app/platform';
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

  it('gives no owner more than its share, and takes words back', () => {
    const list = new WordList();
    const letter = (i: number): string => String.fromCharCode(97 + (i % 26));
    const word = (i: number): string =>
      [i, i / 26, i / 676, i / 17_576].map((part) => letter(Math.floor(part))).join('');
    for (let i = 0; i < 30_000; i++) list.add(word(i), 'greedy');
    expect(list.size).toBe(20_000);
    list.add('deployment', 'modest');
    expect(list.nearest('deploymant', 2)).toMatchObject([{ word: 'deployment' }]);
    atOnce(list.pruning((one) => one === 'deployment'));
    expect(list.size).toBe(1);
    expect(list.has(word(1))).toBe(false);
    for (let i = 0; i < 30_000; i++) list.add(word(i), 'greedy');
    expect(list.size).toBe(20_001);
    expect(list.nearest('deploymant', 2)).toMatchObject([{ word: 'deployment' }]);
  });

  it('keeps neither numbers nor data', () => {
    const list = new WordList();
    for (const word of ['v2', 'a1b2c3', 'x'.repeat(40)]) list.add(word);
    expect(list.nearest('v3', 2)).toEqual([]);
    expect(list.has('a1b2c3')).toBe(false);
  });
});
