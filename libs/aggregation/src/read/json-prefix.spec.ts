import { atOnce } from '@app/platform';
import fc from 'fast-check';
import { readJsonPrefix } from './json-prefix.js';

const startOf = (text: string) => atOnce(readJsonPrefix(text));

describe(readJsonPrefix, () => {
  it('parses JSON as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        expect(startOf(text)).toEqual({ value: JSON.parse(text), isCut: false });
      }),
    );
  });

  it.each(['', '{', '[1,]', 'nothing', '{"a":1}}', '"a'])('refuses %j', (text) => {
    expect(startOf(text)).toBeUndefined();
  });

  it('leaves out values beyond the limit and closes open containers', () => {
    const items = Array.from({ length: 50_000 }, (_, i) => ({ [`k,"[${i}`]: '\\"]}' }));
    const start = startOf(JSON.stringify({ found: { items }, more: 1 }));
    if (!start) throw new Error('it was not read');
    const { found } = start.value as { found: { items: object[] } };
    expect(start.isCut).toBe(true);
    expect(found.items.length).toBeGreaterThan(1_000);
    expect(found.items).toEqual(items.slice(0, found.items.length));
  });

  it('keeps values after a long string', () => {
    const value = [{ data: 'A'.repeat(3_000_000) }, { text: 'after it' }];
    expect(startOf(JSON.stringify(value))).toEqual({ value, isCut: false });
  });

  it('refuses JSON that is nested too deeply', () => {
    expect(startOf('['.repeat(1_000_000))).toBeUndefined();
    expect(startOf(`${'[1,'.repeat(200)}1${']'.repeat(200)}`)).toBeUndefined();
  });
});
