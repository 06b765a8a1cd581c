import { Shares } from './shares.js';

function sharesOf(uses: Readonly<Record<string, number>>): Shares {
  const shares = new Shares();
  for (const [owner, amount] of Object.entries(uses)) shares.add(owner, amount);
  return shares;
}

describe(Shares.name, () => {
  it('gives all of a budget to one owner that is alone', () => {
    expect(sharesOf({ alice: 9 }).hasRoom('alice', 10)).toBe(true);
    expect(sharesOf({ alice: 10 }).hasRoom('alice', 10)).toBe(false);
  });

  it('keeps a share for a new owner when another has used its own', () => {
    const shares = sharesOf({ alice: 10 });
    for (let i = 0; i < 5; i++) {
      expect(shares.hasRoom('bob', 10)).toBe(true);
      shares.add('bob');
    }
    expect(shares.hasRoom('bob', 10)).toBe(false);
  });

  it.each([
    ['alice', { alice: 10 }, 'alice'],
    ['bob', { alice: 10 }, 'alice'],
    ['bob', { alice: 9, bob: 1 }, 'alice'],
    ['alice', { alice: 9, bob: 1 }, 'alice'],
    ['bob', { alice: 5, bob: 5 }, 'bob'],
    ['bob', { alice: 6, bob: 5 }, 'bob'],
    ['carol', { alice: 1, bob: 1 }, 'alice'],
  ])('lets the right owner give way when %s wants more of %j', (owner, uses, expected) => {
    expect(sharesOf(uses).whoGivesWay(owner)).toBe(expected);
  });

  it('drops owners that hold nothing', () => {
    const shares = sharesOf({ alice: 2 });
    shares.remove('alice', 2);
    expect([shares.total, shares.largest()]).toEqual([0, undefined]);
  });
});
