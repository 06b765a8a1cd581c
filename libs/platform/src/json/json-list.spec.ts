import fc from 'fast-check';
import { atOnce } from '../work/slices.js';
import { jsonItems } from './json-list.js';

function itemsOf(text: string, most = Infinity): unknown[] {
  const items: unknown[] = [];
  const onItem = (item: Buffer): boolean => {
    items.push(JSON.parse(item.toString()));
    return items.length < most;
  };
  atOnce(jsonItems(Buffer.from(text), onItem));
  return items;
}

describe(jsonItems, () => {
  it('finds the items that JSON.parse finds, however the list is written', () => {
    const indents = fc.constantFrom(undefined, 2, '\t');
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), indents, (list, indent) => {
        const text = JSON.stringify(list, undefined, indent);
        expect(itemsOf(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(['[]', '[ ]', ' [\n] '])('finds no item in %j', (text) => {
    expect(itemsOf(text)).toEqual([]);
  });

  it('reads brackets, commas and quotes in strings as text', () => {
    const list = ['],[', '\\', '\\"', '"]', { '}': '{[' }];
    expect(itemsOf(JSON.stringify(list))).toEqual(list);
  });

  it('ends when enough items were found', () => {
    expect(itemsOf('[1,2,3]', 2)).toEqual([1, 2]);
  });

  it('gives way within a long item', () => {
    const work = jsonItems(Buffer.from(`["${'\\\\'.repeat(500_000)}"]`), () => true);
    let steps = 0;
    while (!work.next().done) steps++;
    expect(steps).toBeGreaterThan(10);
  });
});
