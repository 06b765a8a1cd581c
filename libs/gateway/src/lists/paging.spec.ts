import type { JsonObject } from '@app/platform';
import { firstAfter, keyIn, PAGE_BYTES, type PageItem, writePage } from './paging.js';

const item = (key: string, padding = 0): PageItem => ({
  key,
  json: JSON.stringify({ key, padding: 'x'.repeat(padding) }),
});
const items = Array.from({ length: 2_500 }, (_, i) => item(`tool${String(i).padStart(5, '0')}`));
const keysOf = (list: readonly PageItem[]): string[] => list.map(({ key }) => key);

function walk(
  first: readonly PageItem[],
  onPage: (page: number) => readonly PageItem[] = () => first,
): { keys: string[]; sizes: number[] } {
  const keys: string[] = [];
  const sizes: number[] = [];
  let cursor: JsonObject[string] | undefined;
  let current = first;
  for (let number = 0; ; number++) {
    const { page } = writePage('things', from(current, cursor));
    keys.push(...(page.get('things') as { key: string }[]).map(({ key }) => key));
    sizes.push(page.bytes.length);
    cursor = page.get('nextCursor');
    if (cursor === undefined) return { keys, sizes };
    current = onPage(number);
  }
}

function from(list: readonly PageItem[], cursor: JsonObject[string] | undefined): PageItem[] {
  return list.slice(firstAfter(list, ({ key }) => key, keyIn(cursor)));
}

describe(writePage.name, () => {
  it('returns every item once over several pages', () => {
    const { keys, sizes } = walk(items);
    expect(keys).toEqual(keysOf(items));
    expect(sizes).toHaveLength(3);
  });

  it('returns one page without a cursor when all items fit', () => {
    expect(walk(items.slice(0, 1_000)).sizes).toHaveLength(1);
    expect(walk([])).toEqual({ keys: [], sizes: [expect.any(Number)] });
  });

  it('continues at the same key when the list changes between pages', () => {
    const changed = items.filter(({ key }) => key !== 'tool00999' && key !== 'tool00001');
    expect(walk(items, () => changed).keys).toEqual(keysOf(items));
  });

  it('ends a page before it exceeds the byte limit', () => {
    const large = Array.from({ length: 50 }, (_, i) => item(`large${i + 10}`, 100_000));
    const { keys, sizes } = walk(large);
    expect(keys).toEqual(keysOf(large));
    expect(Math.max(...sizes)).toBeLessThan(PAGE_BYTES + 100);
    expect(sizes.length).toBeGreaterThan(4);
  });

  it('puts an item that is larger than a page on its own page', () => {
    const list = [item('a'), item('b', PAGE_BYTES), item('c')];
    const { keys, sizes } = walk(list);
    expect(keys).toEqual(['a', 'b', 'c']);
    expect(sizes).toHaveLength(3);
  });

  it('counts the head of the first page', () => {
    const head = [JSON.stringify('y'.repeat(PAGE_BYTES / 2))];
    const list = [item('a', PAGE_BYTES / 2), item('b', PAGE_BYTES / 2)];
    expect(writePage('things', list, head).count).toBe(1);
  });
});

describe(keyIn.name, () => {
  it.each([1, null, 'nonsense', ''])('refuses %j as an invalid cursor', (cursor) => {
    expect(() => keyIn(cursor)).toThrow('Invalid cursor');
  });
});
