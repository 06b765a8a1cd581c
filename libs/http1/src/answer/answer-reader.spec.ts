import { BadAnswer } from './answer-head.js';
import { AnswerReader } from './answer-reader.js';
import fc from 'fast-check';

type Told = { status: number; type: string; body: string; ended: boolean };

/** The events that the reader reports for these bytes, however they are split. */
function told(pieces: readonly Buffer[]): Told[] {
  const all: Told[] = [];
  const reader = new AnswerReader({
    onHead: ({ status, contentType }) => {
      all.push({ status, type: contentType, body: '', ended: false });
    },
    onData: (bytes) => {
      const last = all.at(-1);
      if (last) last.body += bytes.toString('latin1');
    },
    onEnd: () => {
      const last = all.at(-1);
      if (last) last.ended = true;
    },
  });
  for (const piece of pieces) reader.push(piece);
  reader.finish();
  return all;
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % bytes.length))].toSorted((a, b) => a - b);
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length));
}

/** One character per byte. */
const sweet = Buffer.from('{"a":"süß"}').toString('latin1');
const counted = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${sweet.length}\r\n\r\n${sweet}`;
const chunked =
  'HTTP/1.1 200 OK\r\ncontent-type:text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '5;name=value\r\nhello\r\nA\r\n, you all.\r\n0\r\nx-trailer: 1\r\n\r\n';
const json = 'application/json';

describe('an answer is read the same however its bytes are cut', () => {
  it.each<[string, string, Told]>([
    ['with a length', counted, { status: 200, type: json, body: sweet, ended: true }],
    [
      'in chunks, with extensions and trailers',
      chunked,
      { status: 200, type: 'text/event-stream', body: 'hello, you all.', ended: true },
    ],
    [
      'that ends with the connection',
      'HTTP/1.0 200\r\n\r\nall of it',
      { status: 200, type: '', body: 'all of it', ended: true },
    ],
    [
      'after interim answers',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${counted}`,
      { status: 200, type: json, body: sweet, ended: true },
    ],
    [
      'without a body, whatever it says of one',
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      { status: 204, type: '', body: '', ended: true },
    ],
  ])('%s', (_name, text, expected) => {
    const bytes = Buffer.from(text, 'latin1');
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (places) => {
        expect(told(cut(bytes, places))).toEqual([expected]);
      }),
    );
    expect(told(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual([expected]);
  });
});

it('reads consecutive answers on one connection', () => {
  const both = told([Buffer.from(counted, 'latin1'), Buffer.from(chunked, 'latin1')]);
  expect(both.map(({ body }) => body)).toEqual([sweet, 'hello, you all.']);
});

it('does not report an answer as complete when its connection ends too early', () => {
  for (const text of [counted, chunked]) {
    const bytes = Buffer.from(text, 'latin1');
    for (let end = 1; end < bytes.length; end++) {
      expect(told([bytes.subarray(0, end)]).filter(({ ended }) => ended)).toEqual([]);
    }
  }
});

const ok = 'HTTP/1.1 200 OK\r\n';

it.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['a field without a name', `${ok}: value\r\n\r\n`],
  ['a field without a colon', `${ok}value\r\n\r\n`],
  ['a folded field', `${ok}a: b\r\n content-length: 5\r\n\r\n`],
  ['space before a colon', `${ok}content-length : 5\r\n\r\n`],
  ['a bare line feed', `${ok}a: b\ncontent-length: 5\r\n\r\n`],
  ['two lengths', `${ok}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
  ['a length that is no number', `${ok}content-length: +5\r\n\r\n`],
  ['a tab after a length', `${ok}content-length: 5\t\r\n\r\nhello`],
  ['a no-break space after a length', `${ok}content-length: 5\xa0\r\n\r\nhello`],
  ['a tab after an encoding', `${ok}transfer-encoding: chunked \t\r\n\r\n0\r\n\r\n`],
  ['a no-break space before an encoding', `${ok}transfer-encoding: \xa0chunked\r\n\r\n0\r\n\r\n`],
  ['a length and chunks', `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['another encoding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n`],
  ['a chunk without a size', `${ok}transfer-encoding: chunked\r\n\r\n\r\nhello`],
  ['a chunk with a size that is none', `${ok}transfer-encoding: chunked\r\n\r\n0x5\r\nhello`],
  ['a chunk longer than its size', `${ok}transfer-encoding: chunked\r\n\r\n4\r\nhello\r\n`],
  ['headers without an end', `${ok}a: ${'b'.repeat(20_000)}`],
  ['a chunk size without an end', `${ok}transfer-encoding: chunked\r\n\r\n5;${'x'.repeat(2_000)}`],
  [
    'trailers without an end',
    `${ok}transfer-encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(9_000)}`,
  ],
  [
    'a length in a trailer',
    `${ok}transfer-encoding: chunked\r\n\r\n0\r\nContent-Length: 0\r\n\r\n`,
  ],
  [
    'an encoding in a trailer',
    `${ok}transfer-encoding: chunked\r\n\r\n0\r\ntransfer-encoding: chunked\r\n\r\n`,
  ],
  ['bytes after the answer', `${ok}content-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n`],
])('%s is refused', (_name, text) => {
  expect(() => told([Buffer.from(text, 'latin1')])).toThrow(BadAnswer);
});

it('reports nothing after it was stopped in the middle of an answer', () => {
  const heard: string[] = [];
  const reader: AnswerReader = new AnswerReader({
    onHead: () => heard.push('head'),
    onData: () => {
      heard.push('data');
      reader.stop();
    },
    onEnd: () => heard.push('end'),
  });
  reader.push(Buffer.from(chunked, 'latin1'));
  expect(heard).toEqual(['head', 'data']);
});
