import fc from 'fast-check';
import { tokensOf } from '@app/platform';
import { processorMs } from '../../../../test/support/loop-delay.js';
import { CUT_MARK, withinBudget } from './token-budget.js';

describe(withinBudget, () => {
  it('leaves texts that fit unchanged', () => {
    const texts = ['One sentence.', 'Another one.'];
    expect(withinBudget(texts, 100)).toEqual(texts);
  });

  it('cuts long texts after a sentence, marks the cut, and leaves short ones whole', () => {
    const long = 'This is a sentence of some length. '.repeat(20).trim();
    const [short, cut] = withinBudget(['Short.', long], 60);
    expect(short).toBe('Short.');
    expect(cut).toMatch(/^(This is a sentence of some length\. ?)+ \[…\]$/);
  });

  it('cuts after a word when the first sentence is too long', () => {
    const [cut] = withinBudget(['words without any end '.repeat(100)], 20);
    expect(cut).toMatch(/^(words|without|any|end| )+ \[…\]$/);
  });

  it('takes linear time for texts without ends of sentences or words', () => {
    for (const unit of [' ', '\n', 'a ', '\u2029', 'x', 'a.) ']) {
      const spent = processorMs(() => {
        const [cut] = withinBudget([unit.repeat(200_000)], 6_000);
        expect(tokensOf(cut ?? '')).toBeLessThanOrEqual(6_000 + tokensOf(CUT_MARK));
      });
      // By the square of the length it took half a minute.
      expect(spent).toBeLessThan(3_000);
    }
  });

  it('never exceeds the budget except by the marks, and never splits a character', () => {
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
