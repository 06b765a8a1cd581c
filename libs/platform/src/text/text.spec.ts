import { validateSync } from 'class-validator';
import { hasMoreChars, MaxChars } from './text.js';

class Named {
  @MaxChars(3)
  readonly name: unknown;
  constructor(name: unknown) {
    this.name = name;
  }
}

describe(hasMoreChars.name, () => {
  it.each([
    ['abc', false],
    ['abcd', true],
    ['👍👍👍', false],
    ['👍👍👍👍', true],
    ['a👍b', false],
    // A variation selector is a separate character.
    ['❤️❤️', true],
    ['x'.repeat(1_000_000), true],
  ])('counts code points, as JSON Schema does: %s', (text, isMore) => {
    expect(hasMoreChars(text, 3)).toBe(isMore);
    expect(validateSync(new Named(text))).toHaveLength(isMore ? 1 : 0);
  });
});

describe(MaxChars.name, () => {
  it('refuses anything but text', () => {
    expect(validateSync(new Named(5))).toHaveLength(1);
  });
});
