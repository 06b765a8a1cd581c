import fc from 'fast-check';
import { patternOf } from './name-pattern.js';

describe(patternOf, () => {
  it('matches what a regular expression with .* for each star matches', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 12 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n'), maxLength: 12 });
    fc.assert(
      fc.property(letters, text, (pattern, name) => {
        const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '.*');
        expect(patternOf(pattern)(name)).toBe(new RegExp(`^${expression}$`, 's').test(name));
      }),
      { numRuns: 2_000 },
    );
  });
});
