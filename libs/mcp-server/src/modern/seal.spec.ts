import { randomBytes } from 'node:crypto';
import { Seal } from './seal.js';

describe(Seal.name, () => {
  let now = 0;
  const seal = new Seal(1_000, () => now);

  beforeEach(() => {
    now = 0;
  });

  it('decrypts what it encrypted for the same purpose', () => {
    expect(seal.open(seal.close('päth:1', 'ada'), 'ada')).toBe('päth:1');
  });

  it('encrypts its content', () => {
    expect(Buffer.from(seal.close('secret', ''), 'base64url').toString()).not.toContain('secret');
  });

  it('does not open for another purpose', () => {
    expect(seal.open(seal.close('x', 'ada'), 'mallory')).toBeUndefined();
  });

  it('opens what another replica sealed, also while keys are rotated', () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)];
    const rotating = new Seal(1_000, () => now, [newer, older]);
    for (const keys of [[older], [newer], [newer, older]] as const) {
      const other = new Seal(1_000, () => now, keys);
      expect(rotating.open(other.close('x', 'ada'), 'ada')).toBe('x');
      expect(other.open(rotating.close('x', 'ada'), 'ada')).toBe('x');
    }
    expect(seal.open(rotating.close('x', 'ada'), 'ada')).toBeUndefined();
  });

  it('does not open after its expiry', () => {
    const sealed = seal.close('x', 'ada');
    now = 999;
    expect(seal.open(sealed, 'ada')).toBe('x');
    now = 1_000;
    expect(seal.open(sealed, 'ada')).toBeUndefined();
  });

  it.each(['', 'x', 'A'.repeat(80)])('does not open %j, which it did not seal', (text) => {
    expect(seal.open(text, 'ada')).toBeUndefined();
  });

  it('does not open the beginning or the end of what it sealed', () => {
    const sealed = seal.close('x', 'ada');
    for (let length = 0; length < sealed.length; length++) {
      expect(seal.open(sealed.slice(0, length), 'ada')).toBeUndefined();
      expect(seal.open(sealed.slice(-length), 'bob')).toBeUndefined();
    }
  });

  it('does not open text that was changed at any position', () => {
    const sealed = seal.close('x', 'ada');
    for (let i = 0; i < sealed.length - 1; i++) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1);
      expect(seal.open(changed, 'ada')).toBeUndefined();
    }
  });
});
