import { fitOf, NO_GOOD_FIT } from './fit.js';

const strange = { cosine: 0.2, coverage: 0.1, isServerNamed: false };

describe(fitOf, () => {
  it('grows with the cosine and with the words that a tool has', () => {
    expect(fitOf({ ...strange, cosine: 0.5 })).toBeGreaterThan(fitOf(strange));
    expect(fitOf({ ...strange, coverage: 0.9 })).toBeGreaterThan(fitOf(strange));
  });

  it('is too low for a tool that has little of the query, and high for one that has all of it', () => {
    expect(fitOf(strange)).toBeLessThan(NO_GOOD_FIT);
    expect(fitOf({ cosine: 0.6, coverage: 1, isServerNamed: false })).toBeGreaterThan(0.9);
  });

  it('is no sign against a tool whose server the query names', () => {
    expect(fitOf({ ...strange, isServerNamed: true })).toBeGreaterThan(NO_GOOD_FIT);
  });
});
