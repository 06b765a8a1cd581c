import { pageOf } from './paging.js';

const names = Array.from({ length: 2_500 }, (_, i) => `tool${String(i).padStart(5, '0')}`);
const self = (name: string): string => name;

function walk(items: readonly string[], onPage?: (page: number) => readonly string[]): string[] {
  const seen: string[] = [];
  let cursor: string | undefined;
  let current = items;
  for (let page = 0; ; page++) {
    const { items: some, next } = pageOf(current, self, cursor);
    seen.push(...some);
    if (typeof next['nextCursor'] !== 'string') return seen;
    cursor = next['nextCursor'];
    current = onPage?.(page) ?? current;
  }
}

describe(pageOf.name, () => {
  it('gives every item once, over several pages', () => {
    expect(walk(names)).toEqual(names);
  });

  it('gives one page without a cursor when that is all', () => {
    expect(pageOf(names.slice(0, 1_000), self, undefined).next).toEqual({});
    expect(pageOf([], self, undefined)).toEqual({ items: [], start: 0, next: {} });
  });

  it('goes on at the same place when the list changes in between', () => {
    const changed = names.filter((name) => name !== 'tool00999' && name !== 'tool00001');
    expect(walk(names, () => changed)).toEqual(names);
  });

  it.each([1, null, 'nonsense', ''])('refuses %j, which is no cursor of its own', (cursor) => {
    expect(() => pageOf(names, self, cursor)).toThrow('Invalid cursor');
  });
});
