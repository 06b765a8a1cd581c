import { countedBytes, whoseGoes } from './room.js';

const limits = { total: 800, perOwner: 100 };
const kept = (entries: Record<string, number>): Map<string, number> =>
  new Map(Object.entries(entries));

describe(whoseGoes, () => {
  it('removes nothing while there is room', () => {
    expect(whoseGoes(kept({ ada: 50, bob: 90 }), 'ada', 50, limits)).toBeUndefined();
  });

  it('removes the owner’s own results beyond their part', () => {
    expect(whoseGoes(kept({ ada: 60, bob: 90 }), 'ada', 50, limits)).toEqual({ owner: 'ada' });
  });

  it('removes a result of the principal with the most when all of it is used', () => {
    const others = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`user ${i}`, 92 + i]));
    expect(whoseGoes(kept(others), 'ada', 50, limits)).toEqual({ owner: 'user 7' });
  });

  it('takes no room from principals who have less', () => {
    const others = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`user ${i}`, 10]));
    expect(whoseGoes(kept(others), 'ada', 50, limits)).toBe('full');
    expect(whoseGoes(kept({ ...others, ada: 20 }), 'ada', 50, limits)).toEqual({ owner: 'ada' });
  });

  it('does not keep what is larger than the part of one principal', () => {
    expect(whoseGoes(kept({}), 'ada', 101, limits)).toBe('full');
  });
});

describe(countedBytes, () => {
  it('counts a small result as a page', () => {
    expect(countedBytes(10)).toBe(65_536);
    expect(countedBytes(1_000_000)).toBe(1_000_000);
  });
});
