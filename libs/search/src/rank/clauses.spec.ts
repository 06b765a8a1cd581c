import { clausesOf } from './clauses.js';

describe(clausesOf, () => {
  it('finds none in a query with one intent', () => {
    expect(clausesOf('create a GitHub issue')).toEqual([]);
  });

  it('splits at sentences and conjunctions', () => {
    expect(
      clausesOf('Find a cheap flight to Rome and then book a hotel. Send me the receipt!'),
    ).toEqual(['Find a cheap flight to Rome', 'book a hotel.', 'Send me the receipt!']);
  });

  it('ignores fragments that are too short', () => {
    expect(clausesOf('search and replace')).toEqual([]);
    expect(clausesOf('Please. Translate this text into French.')).toEqual([]);
  });

  it('stays bounded for a whole document', () => {
    expect(clausesOf('do this one thing. '.repeat(500)).length).toBeLessThan(20);
  });
});
