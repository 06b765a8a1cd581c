import { SpanBlocks, spansIn } from './span-blocks.js';

const textOf = (blocks: SpanBlocks, maxSpans = 100): string[] =>
  blocks.take(maxSpans).map(({ json }) => json.toString());

describe(SpanBlocks, () => {
  it('keeps spans in their order, with commas within a block', () => {
    const blocks = new SpanBlocks(2);
    for (const span of ['a', 'b', 'c']) blocks.add(span);
    expect(blocks.spans).toBe(3);
    expect(textOf(blocks)).toEqual(['a,b', 'c']);
    expect([blocks.spans, blocks.bytes]).toEqual([0, 0]);
  });

  it('keeps spans of any length and any characters', () => {
    const blocks = new SpanBlocks(1_000);
    const spans = ['{"name":"ü€😀"}', 'x'.repeat(100_000), '€'.repeat(20_000), 'y'];
    for (const span of spans) blocks.add(span);
    expect(textOf(blocks).join()).toBe(spans.join());
  });

  it('gives as many spans as wanted, in whole blocks', () => {
    const blocks = new SpanBlocks(2);
    for (const span of ['a', 'b', 'c', 'd', 'e']) blocks.add(span);
    expect(textOf(blocks, 3)).toEqual(['a,b']);
    expect(textOf(blocks, 1)).toEqual(['c,d']);
    expect(textOf(blocks, 1)).toEqual(['e']);
    expect(textOf(blocks, 1)).toEqual([]);
  });

  it('adds nothing to a block that was taken', () => {
    const blocks = new SpanBlocks(2);
    blocks.add('a');
    const taken = blocks.take(1);
    blocks.add('b');
    expect([spansIn(taken), blocks.spans]).toEqual([1, 1]);
    blocks.takeBack(taken);
    expect(textOf(blocks)).toEqual(['a', 'b']);
  });

  it('drops the oldest, and counts what it takes in memory', () => {
    const blocks = new SpanBlocks(2);
    for (const span of ['a', 'b', 'c']) blocks.add(span);
    const before = blocks.bytes;
    expect(blocks.dropOldest()).toBe(2);
    expect(blocks.bytes).toBeLessThan(before);
    expect(textOf(blocks)).toEqual(['c']);
    expect(blocks.dropOldest()).toBe(0);
  });
});
