import fc from 'fast-check';
import { EventStream, type StreamEvent } from './event-stream.js';
import { LineSplitter } from './line-splitter.js';

/** The bytes of `text` in pieces of these sizes, round and round. */
function* pieces(text: string, sizes: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((s) => s.replaceAll(/[\r\n]/g, ''));

describe(LineSplitter.name, () => {
  it('gives the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(line), sizes, (lines, cuts) => {
        const seen: string[] = [];
        const splitter = new LineSplitter(1_000, {
          onLine: (bytes) => seen.push(bytes.toString()),
          onOversized: () => seen.push('oversized'),
        });
        for (const piece of pieces(lines.map((text) => `${text}\n`).join(''), cuts)) {
          splitter.push(piece);
        }
        expect(seen).toEqual(lines);
      }),
    );
  });

  it('throws away only the line that is too long, and keeps both of its ends', () => {
    const seen: unknown[] = [];
    const splitter = new LineSplitter(100, {
      onLine: (bytes) => seen.push(bytes.toString()),
      onOversized: (head, tail) => seen.push([head.toString(), tail.toString()]),
    });
    const long = `begin${'x'.repeat(5_000)}end`;
    for (const piece of pieces(`a\r\n${long}\nb\n`, [7])) splitter.push(piece);
    expect(seen).toEqual([
      'a',
      [expect.stringMatching(/^begin/), expect.stringMatching(/end$/)],
      'b',
    ]);
    const [, ends] = seen;
    expect(Array.isArray(ends) && ends.every((end) => String(end).length <= 1_024)).toBe(true);
  });
});

describe(EventStream.name, () => {
  const read = (text: string, cuts: readonly number[], maxBytes = 1_000): unknown[] => {
    const seen: unknown[] = [];
    const stream = new EventStream(maxBytes, {
      onEvent: ({ data, ...event }: StreamEvent) => seen.push({ ...event, data: data.toString() }),
      onRetry: (ms) => seen.push({ retry: ms }),
      onOversized: () => seen.push('oversized'),
    });
    for (const piece of pieces(text, cuts)) stream.push(piece);
    return seen;
  };

  it.each(['\n', '\r\n'])('reads events whose lines end with %j, however they are cut', (end) => {
    const text = [
      ': a comment',
      'retry: 1500',
      'event: endpoint',
      'data: /messages',
      '',
      'id: 7',
      'data: {"a":',
      'data:  1}',
      'unknown: x',
      '',
      'data',
      '',
      '',
    ].join(end);
    fc.assert(
      fc.property(sizes, (cuts) => {
        expect(read(text, cuts)).toEqual([
          { retry: 1_500 },
          { type: 'endpoint', data: '/messages', id: undefined },
          { type: 'message', data: '{"a":\n 1}', id: '7' },
          { type: 'message', data: '', id: '7' },
        ]);
      }),
    );
  });

  it('does not give an event that was cut off', () => {
    expect(read('data: whole\n\ndata: half', [3])).toEqual([
      { type: 'message', data: 'whole', id: undefined },
    ]);
  });

  it('throws away an event that is too large, in one line or in many', () => {
    const many = `${'data: xxxxxxxx\n'.repeat(20)}\n`;
    const one = `data: ${'x'.repeat(300)}\n\n`;
    expect(read(`${many}${one}data: small\n\n`, [9], 100)).toEqual([
      'oversized',
      'oversized',
      { type: 'message', data: 'small', id: undefined },
    ]);
  });
});
