import { atOnce, hasMoreTokens } from '@app/platform';
import fc from 'fast-check';
import { pagesOf, pageTokens } from './result-pages.js';

describe(pagesOf, () => {
  it('cuts between characters into pages that are the whole, byte for byte', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 500 }),
        fc.integer({ min: 2, max: 60 }),
        (text, tokens) => {
          const whole = Buffer.from(text);
          const pages = atOnce(pagesOf(whole, tokens));
          expect(Buffer.concat(pages.map((page) => Buffer.from(page.toString())))).toEqual(whole);
          for (const page of pages) expect(hasMoreTokens(page, tokens)).toBe(false);
        },
      ),
    );
  });
});

describe(pageTokens, () => {
  it('follows the budget between two bounds', () => {
    expect([1_000, 6_000, 1_000_000].map(pageTokens)).toEqual([2_000, 6_000, 16_000]);
  });
});
