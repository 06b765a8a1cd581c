import fc from 'fast-check';
import { beyondBounds, type JsonBounds, valueBeyondBounds } from './json-bounds.js';

const UNBOUNDED: JsonBounds = {
  depth: Infinity,
  keys: Infinity,
  strings: Infinity,
  values: Infinity,
};
const ROOMY = { keys: 1_000, items: 1_000, values: 1_000 };

describe(beyondBounds.name, () => {
  it.each([
    ['depth', '[[[]]]', '[[[[]]]]'],
    ['keys', '{"a":1,"b":{"c":2}}', '{"a":1,"b":{"c":2,"d":3}}'],
    ['strings', '["a","b","c"]', '["a","b",{"c":"d"}]'],
    ['values', '[1,2,3]', '[1,2,3,4]'],
  ] as const)('counts %s up to the bound and not beyond', (what, within, beyond) => {
    const bounds = { ...UNBOUNDED, [what]: 3 };
    expect(beyondBounds(within, bounds)).toBeUndefined();
    expect(beyondBounds(beyond, bounds)).toBe(what);
  });

  it('does not count characters inside strings', () => {
    const text = JSON.stringify('[{"a":1,"b":\\",:]}'.repeat(100));
    const bounds = { depth: 0, keys: 0, strings: 1, values: 0 };
    expect(beyondBounds(text, bounds)).toBeUndefined();
  });

  it('accepts JSON within the limits and refuses JSON beyond them', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const { depth, keys, strings } = countsOf(value);
        expect(beyondBounds(text, { ...UNBOUNDED, depth, keys, strings })).toBeUndefined();
        expect(beyondBounds(text, { ...UNBOUNDED, depth: depth - 1 })).toBe(
          depth === 0 ? undefined : 'depth',
        );
        expect(beyondBounds(text, { ...UNBOUNDED, keys: keys - 1 })).toBe(
          keys === 0 ? undefined : 'keys',
        );
        expect(beyondBounds(text, { ...UNBOUNDED, strings: strings - 1 })).toBe(
          strings === 0 ? undefined : 'strings',
        );
      }),
    );
  });

  it('gives the same result for bytes read as latin1', () => {
    const text = JSON.stringify({ 'ключ "1"': ['語', '\\', '🦊'], b: {} });
    const bytes = Buffer.from(text).toString('latin1');
    for (const keys of [1, 2])
      expect(beyondBounds(bytes, { ...UNBOUNDED, keys })).toBe(
        beyondBounds(text, { ...UNBOUNDED, keys }),
      );
  });

  it('terminates on invalid JSON', () => {
    for (const text of ['"', '"\\', '\\"', ']]]', '{"a', '', ':::'])
      expect(beyondBounds(text, UNBOUNDED)).toBeUndefined();
  });
});

describe(valueBeyondBounds.name, () => {
  it.each([
    ['keys', { a: 1, b: { c: 2, d: 3 } }],
    ['items', { a: [1, 2, 3, 4] }],
    ['values', [[1], [2], [3]]],
  ] as const)('counts %s on all levels', (what, value) => {
    expect(valueBeyondBounds(value, { ...ROOMY, [what]: 3 })).toBe(what);
    expect(valueBeyondBounds(value, { ...ROOMY, [what]: 6 })).toBeUndefined();
  });

  it('does not recurse', () => {
    let deep: object = [];
    for (let i = 0; i < 500; i++) deep = [deep];
    expect(valueBeyondBounds(deep, ROOMY)).toBeUndefined();
  });
});

function countsOf(value: unknown): { depth: number; keys: number; strings: number } {
  if (typeof value === 'string') return { depth: 0, keys: 0, strings: 1 };
  if (typeof value !== 'object' || value === null) return { depth: 0, keys: 0, strings: 0 };
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  const inner = Object.values(value).map(countsOf);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    keys: inner.reduce((sum, { keys }) => sum + keys, own),
    strings: inner.reduce((sum, { strings }) => sum + strings, own),
  };
}
