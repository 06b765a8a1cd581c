import { distance } from 'fastest-levenshtein';
import * as fc from 'fast-check';
import { type Characters, isWithinEdits, isWithinManyEdits } from './edit-distance.js';

class Counted implements Characters {
  reads = 0;
  constructor(private readonly text: string) {}
  get length(): number {
    return this.text.length;
  }
  charCodeAt(index: number): number {
    this.reads++;
    return this.text.charCodeAt(index);
  }
}

const readsOf = (one: string, other: string, limit: number): number => {
  const [a, b] = [new Counted(one), new Counted(other)];
  isWithinEdits(a, b, limit);
  return a.reads + b.reads;
};

describe(isWithinEdits, () => {
  it('agrees with the Levenshtein distance', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'ü'), maxLength: 24 });
    fc.assert(
      fc.property(text, text, fc.nat(24), (a, b, limit) => {
        expect(isWithinEdits(a, b, limit)).toBe(distance(a, b) <= limit);
      }),
      { numRuns: 2_000 },
    );
  });

  it('reads two near-identical texts about once', () => {
    const text = 'abcdefghijklmnopqrstuvwxy'.repeat(40);
    expect(readsOf(text, `${text.slice(0, 500)}!${text.slice(501)}`, 199)).toBeLessThan(3_000);
  });

  it.each([
    ['other letters', 'a'.repeat(1_000), 'b'.repeat(1_000)],
    ['one letter', 'a'.repeat(1_000), `${'a'.repeat(499)}${'b'.repeat(501)}`],
    ['a period that is shifted', 'ab'.repeat(500), 'ba'.repeat(500)],
    ['words in another order', 'ab cd ef '.repeat(111), 'ef ab dc '.repeat(111)],
  ])('reads at most a fixed number of characters of texts with %s', (_, a, b) => {
    // At most two reads for each step, and two for each character on each of the 2 · 199 + 1 diagonals.
    expect(readsOf(a, b, 199)).toBeLessThanOrEqual(2 * 200 ** 2 + 2 * 399 * 1_000);
  });
});

describe(isWithinManyEdits, () => {
  it('agrees with the Levenshtein distance, also of texts longer than a block', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'ü'), maxLength: 150 });
    fc.assert(
      fc.property(text, text, fc.nat(160), (a, b, limit) => {
        expect(isWithinManyEdits(a, b, limit)).toBe(distance(a, b) <= limit);
      }),
      { numRuns: 3_000 },
    );
  });

  it('agrees with it exactly at the limit, wherever the edits are', () => {
    const base = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 30, maxLength: 300 });
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(12),
      put: fc.string({ unit: fc.constantFrom('a', 'b', 'd'), maxLength: 12 }),
    });
    fc.assert(
      fc.property(base, fc.array(edit, { maxLength: 8 }), (a, edits) => {
        const b = edits.reduce((text, { at, cut, put }) => {
          const start = Math.floor(at * text.length);
          return text.slice(0, start) + put + text.slice(start + cut);
        }, a);
        const least = distance(a, b);
        expect(isWithinManyEdits(a, b, least)).toBe(true);
        if (least > 0) expect(isWithinManyEdits(a, b, least - 1)).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });
});
