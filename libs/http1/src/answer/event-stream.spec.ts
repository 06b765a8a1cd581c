import { LineSplitter, type MessageLimits, SharedBudget, UNCOUNTED } from '@app/platform';
import fc from 'fast-check';
import { heldBytes } from '../../../../test/support/memory.js';
import { EventStream, type StreamEvent } from './event-stream.js';

/** The bytes of `text` in pieces of these sizes, repeated cyclically. */
function* pieces(text: string, sizes: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
const limits = (maxBytes: number): MessageLimits => ({ maxBytes, room: UNCOUNTED });
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((s) => s.replaceAll(/[\r\n]/g, ''));

describe(LineSplitter.name, () => {
  it('splits the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(line), sizes, (lines, cuts) => {
        const seen: string[] = [];
        const splitter = new LineSplitter(limits(1_000), {
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

  it('discards only the line that is too long, and keeps its head and tail', () => {
    const seen: unknown[] = [];
    const splitter = new LineSplitter(limits(100), {
      onLine: (bytes) => seen.push(bytes.toString()),
      onOversized: ({ head, tail }) => seen.push([head.toString(), tail.toString()]),
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
    const stream = new EventStream(limits(maxBytes), {
      onEvent: ({ data, ...event }: StreamEvent) => seen.push({ ...event, data: data.toString() }),
      onRetry: (ms) => seen.push({ retry: ms }),
      onOversized: () => seen.push('oversized'),
    });
    for (const piece of pieces(text, cuts)) stream.push(piece);
    return seen;
  };

  it.each(['\n', '\r\n', '\r'])(
    'reads events whose lines end with %j, however they are cut',
    (end) => {
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
    },
  );

  it('delivers an event that ends with CR before the next byte arrives', () => {
    expect(read('data: now\r\r', [100])).toEqual([{ type: 'message', data: 'now', id: undefined }]);
  });

  it.each(['\n', '\r\n', '\r'])('reads each line end as one, cut or not: %j', (end) => {
    const text = `data: 1${end}data: 2${end}${end}data: 3${end}${end}`;
    for (const size of [1, 2, 3, 100]) {
      expect(read(text, [size])).toMatchObject([{ data: '1\n2' }, { data: '3' }]);
    }
  });

  it('skips a byte order mark at the beginning only', () => {
    const text = '\ufeffdata: 1\n\n\ufeffdata: 2\n\ndata: 3\n\n';
    expect(read(text, [1])).toMatchObject([{ data: '1' }, { data: '3' }]);
  });

  it('keeps the bytes of an id, and ignores an id that no header can carry', () => {
    expect(read('id: \u20ac\ndata: 1\n\n', [2])).toMatchObject([
      { id: Buffer.from('\u20ac').toString('latin1') },
    ]);
    expect(read('id: \u0001\ndata: 1\n\n', [2])).toMatchObject([{ id: undefined }]);
    const long = 'x'.repeat(2_000);
    expect(read(`id: 1\nid: ${long}\ndata: 1\n\n`, [9], 5_000)).toMatchObject([{ id: undefined }]);
  });

  it('keeps empty lines of data as bytes, not as line objects', () => {
    const before = heldBytes();
    const stream = new EventStream(limits(1_000_000), {
      onEvent: () => undefined,
      onRetry: () => undefined,
      onOversized: () => undefined,
    });
    for (let i = 0; i < 900; i++) stream.push(Buffer.from('data:\n'.repeat(1_000)));
    expect(heldBytes() - before).toBeLessThan(10_000_000);
    expect(stream.eventBytes).toBe(900_000);
  });

  it('discards an event that exceeds the budget', () => {
    const budget = new SharedBudget(2_000);
    const seen: string[] = [];
    const stream = new EventStream(
      { maxBytes: 100_000, room: budget.share() },
      {
        onEvent: ({ data }) => seen.push(data.toString()),
        onRetry: () => undefined,
        onOversized: ({ excess }) => seen.push(excess),
      },
    );
    stream.push(Buffer.from(`data: ${'x'.repeat(5_000)}\n\ndata: small\n\n`));
    expect(seen).toEqual(['budget', 'small']);
    expect(budget.held).toBe(0);
  });

  it('does not deliver a truncated event', () => {
    expect(read('data: whole\n\ndata: half', [3])).toEqual([
      { type: 'message', data: 'whole', id: undefined },
    ]);
  });

  it('discards an event that is too large, in one line or in many', () => {
    const many = `${'data: xxxxxxxx\n'.repeat(20)}\n`;
    const one = `data: ${'x'.repeat(300)}\n\n`;
    expect(read(`${many}${one}data: small\n\n`, [9], 100)).toEqual([
      'oversized',
      'oversized',
      { type: 'message', data: 'small', id: undefined },
    ]);
  });
});
