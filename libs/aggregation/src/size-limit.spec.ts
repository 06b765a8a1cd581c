import fc from 'fast-check';
import { CUT_MARK, tokensOf, withinBudget } from './size-limit.js';

describe(withinBudget, () => {
  it('leaves texts alone that fit', () => {
    const texts = ['One sentence.', 'Another one.'];
    expect(withinBudget(texts, 100)).toEqual(texts);
  });

  it('cuts long texts at sentences, marks the cut, and spares the short ones', () => {
    const long = 'This is a sentence of some length. '.repeat(20).trim();
    const [short, cut] = withinBudget(['Short.', long], 60);
    expect(short).toBe('Short.');
    expect(cut).toMatch(/^(This is a sentence of some length\. ?)+ \[…\]$/);
  });

  it('cuts at words where the first sentence is too long', () => {
    const [cut] = withinBudget(['words without any end '.repeat(100)], 20);
    expect(cut).toMatch(/^(words|without|any|end| )+ \[…\]$/);
  });

  it('never exceeds the budget but for the marks, and never splits a character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 30 }),
        fc.integer({ min: 100, max: 2_000 }),
        (texts, budget) => {
          const cut = withinBudget(texts, budget);
          const size = cut.reduce((sum, text) => sum + tokensOf(text), 0);
          expect(size).toBeLessThanOrEqual(budget + texts.length * tokensOf(CUT_MARK));
          for (const text of cut) expect(text.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

describe(tokensOf, () => {
  it('counts four Latin characters, or one of the others, as a token', () => {
    expect(tokensOf('four char')).toBe(3);
    expect(tokensOf('四个字符')).toBe(4);
  });
});
