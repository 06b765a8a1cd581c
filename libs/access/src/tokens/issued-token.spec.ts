import { acceptedHashes, newSecret, TOKEN_NAME } from './issued-token.js';

describe('the name of a token', () => {
  it.each([
    'ci',
    'a',
    'ops@example.com',
    'a.b_c-D9',
    'systems',
    'System1',
    'anonymous2',
    'x'.repeat(100),
  ])('may be %s', (name) => expect(name).toMatch(TOKEN_NAME));

  it.each([
    '',
    'a b',
    'jwt:a',
    'ä',
    'System',
    'system',
    'Anonymous',
    'anonymous',
    'a\n',
    '-'.repeat(101),
  ])('may not be %j', (name) => expect(name).not.toMatch(TOKEN_NAME));
});

describe('the secret of a token', () => {
  it('is random, and can be recognised', () => {
    expect(newSecret()).toMatch(/^switchboard_[\w-]{43}$/);
    expect(newSecret()).not.toBe(newSecret());
  });
});

describe(acceptedHashes, () => {
  const token = { hash: 'new', previousHash: null, previousUntil: null, expiresAt: null };
  const rotated = { ...token, previousHash: 'old', previousUntil: new Date(5) };

  it('are one, until the token expires', () => {
    expect(acceptedHashes(token)).toEqual([['new', Infinity]]);
    expect(acceptedHashes({ ...token, expiresAt: new Date(7) })).toEqual([['new', 7]]);
  });

  it('are two until a rotation is over, but not longer than the token', () => {
    expect(acceptedHashes(rotated)).toEqual([
      ['new', Infinity],
      ['old', 5],
    ]);
    expect(acceptedHashes({ ...rotated, expiresAt: new Date(3) })).toEqual([
      ['new', 3],
      ['old', 3],
    ]);
    expect(acceptedHashes({ ...rotated, previousUntil: null })[1]).toEqual(['old', -Infinity]);
  });
});
