import { LruMap } from './lru-map.js';

describe(LruMap.name, () => {
  it('drops the least recently used entry', () => {
    const map = new LruMap<number>(3);
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
    expect(map.get('a')).toBe(0);
    map.set('d', 3);
    expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([0, undefined, 2, 3]);
  });

  it('replaces and deletes without dropping others', () => {
    const map = new LruMap<number>(2);
    map.set('a', 1);
    map.set('b', 1);
    map.set('a', 2);
    map.delete('b');
    map.set('c', 1);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([2, undefined, 1]);
  });
});
