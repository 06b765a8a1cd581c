import { NamedSpan, Trace } from './span.js';
import { SpanBlocks, spansIn } from './span-blocks.js';

const keeper = { slowMs: Infinity, keep: () => undefined, drop: () => undefined };

function addTo(blocks: SpanBlocks, ...names: string[]): void {
  for (const name of names) {
    blocks.add(new NamedSpan(new Trace(keeper, true), undefined, 1, name), 0);
  }
}

/** The names of the spans in each block. */
function namesIn(blocks: SpanBlocks, maxSpans = 100): string[][] {
  return blocks.take(maxSpans).map(({ json }) => {
    const spans = JSON.parse(`[${json.toString()}]`) as { name: string }[];
    return spans.map(({ name }) => name);
  });
}

describe(SpanBlocks, () => {
  it('keeps spans in their order', () => {
    const blocks = new SpanBlocks(2);
    addTo(blocks, 'a', 'b', 'c');
    expect(blocks.spans).toBe(3);
    expect(namesIn(blocks)).toEqual([['a', 'b'], ['c']]);
    expect([blocks.spans, blocks.bytes]).toEqual([0, 0]);
  });

  it('begins another block when one has many bytes', () => {
    const blocks = new SpanBlocks(100_000);
    addTo(blocks, ...Array.from({ length: 2_000 }, (_, i) => `${i} ${'€'.repeat(200)}`));
    const found = namesIn(blocks, 100_000);
    expect(found.length).toBeGreaterThan(5);
    expect(found.flat()).toHaveLength(2_000);
    expect(found.flat()[1_999]).toMatch(/^1999 €+$/);
  });

  it('gives as many spans as wanted, in whole blocks', () => {
    const blocks = new SpanBlocks(2);
    addTo(blocks, 'a', 'b', 'c', 'd', 'e');
    expect(namesIn(blocks, 3)).toEqual([['a', 'b']]);
    expect(namesIn(blocks, 1)).toEqual([['c', 'd']]);
    expect(namesIn(blocks, 1)).toEqual([['e']]);
    expect(namesIn(blocks, 1)).toEqual([]);
  });

  it('adds nothing to a block that was taken', () => {
    const blocks = new SpanBlocks(2);
    addTo(blocks, 'a');
    const taken = blocks.take(1);
    addTo(blocks, 'b');
    expect([spansIn(taken), blocks.spans]).toEqual([1, 1]);
    blocks.takeBack(taken);
    expect(namesIn(blocks)).toEqual([['a'], ['b']]);
  });

  it('drops the oldest, and counts what it takes in memory', () => {
    const blocks = new SpanBlocks(2);
    addTo(blocks, 'a', 'b', 'c');
    const before = blocks.bytes;
    expect(blocks.dropOldest()).toBe(2);
    expect(blocks.bytes).toBeLessThan(before);
    expect(namesIn(blocks)).toEqual([['c']]);
    expect(blocks.dropOldest()).toBe(0);
  });
});
