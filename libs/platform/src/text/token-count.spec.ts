import fc from 'fast-check';
import { fairShare, hasMoreTokens, quartersAt, tokenQuarters, tokensOf } from './token-count.js';

describe(tokensOf, () => {
  it('counts four Latin characters, or one other character, as a token', () => {
    expect(tokensOf('four char')).toBe(3);
    expect(tokensOf('四个字符')).toBe(4);
  });
});

describe(quartersAt, () => {
  const quartersOfBytes = (text: string): number => {
    const bytes = Buffer.from(text);
    let sum = 0;
    for (let at = 0; at < bytes.length; at++) sum += quartersAt(bytes, at);
    return sum;
  };

  it('counts the bytes of a text as its characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(quartersOfBytes(text)).toBe(tokenQuarters(text));
      }),
    );
    for (let code = 0x7e; code < 0x3100; code++) {
      const text = String.fromCodePoint(code);
      expect(quartersOfBytes(text)).toBe(tokenQuarters(text));
    }
  });
});

describe(hasMoreTokens, () => {
  it.each(['a', 'é', '字', '😀', '"'])('finds the border for texts of %s', (char) => {
    const text = char.repeat(100);
    const tokens = tokensOf(text);
    expect(hasMoreTokens(Buffer.from(text), tokens)).toBe(false);
    expect(hasMoreTokens(Buffer.from(text), tokens - 1)).toBe(true);
  });
});

describe(fairShare, () => {
  it('leaves small sizes whole and cuts the others to one length', () => {
    expect(fairShare([10, 500, 700], 410)).toBe(200);
    expect(fairShare([10, 20], 30)).toBe(Infinity);
    expect(fairShare([10, 20], 0)).toBe(0);
  });
});
