import { UNCOUNTED } from '@app/platform';
import { createServer, type Server } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { Pool } from 'undici';
import { RequestFailed, HttpRequest } from './request/http-request.js';
import { AnswerReader } from './answer/answer-reader.js';
import { HttpPool } from './connection/http-pool.js';
import fc from 'fast-check';

/**
 * Compares our client with undici's, which parses with llhttp: both have to read the same answer from the same
 * bytes, or ours has to refuse it. `FUZZ_SECONDS` makes a long run with inputs of its own, `FUZZ_SEED` repeats one.
 */
// oxlint-disable-next-line no-process-env -- only of this spec
const { FUZZ_SECONDS, FUZZ_SEED } = process.env;
const SHORT_RUNS = 300;
const SHORT_SEED = 1;

interface Read {
  readonly status: number;
  readonly body: string;
}
type Outcome = Read | 'refused';

let answer: readonly Buffer[] = [];
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      for (const piece of answer) socket.write(piece);
      socket.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(async () => {
  await new Promise((done) => server.close(done));
});

async function ours(): Promise<Outcome> {
  const pool = new HttpPool(new URL(origin), 5_000);
  const handlers = { onEvent: () => undefined, onOversized: () => undefined };
  const limits = { maxBytes: 1_000_000, room: UNCOUNTED };
  try {
    const request = { method: 'POST', path: '/', headers: '', body: '{}' } as const;
    const { status, body } = await new HttpRequest(pool, request, limits, handlers).done;
    return { status, body: body.toString('latin1') };
  } catch (error) {
    if (error instanceof RequestFailed) return 'refused';
    throw error;
  } finally {
    pool.destroy();
  }
}

async function undicis(): Promise<Outcome> {
  const pool = new Pool(origin, { connections: 1, pipelining: 1, bodyTimeout: 5_000 });
  try {
    const { statusCode, body } = await pool.request({ method: 'POST', path: '/', body: '{}' });
    const bytes = Buffer.from(await body.arrayBuffer());
    return { status: statusCode, body: bytes.toString('latin1') };
  } catch {
    return 'refused';
  } finally {
    await pool.destroy();
  }
}

/** Reads these chunks without a socket; returns the last complete answer. */
function cutIn(pieces: readonly Buffer[]): Outcome {
  let status = 0;
  let body = '';
  let whole: Read | undefined;
  const reader = new AnswerReader({
    onHead: (head) => {
      status = head.status;
      body = '';
    },
    onData: (bytes) => {
      body += bytes.toString('latin1');
    },
    onEnd: () => {
      whole ??= { status, body };
    },
  });
  try {
    for (const piece of pieces) if (!whole) reader.push(piece);
    if (!whole) reader.finish();
  } catch {
    // Answers before the error count.
  }
  return whole ?? 'refused';
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length));
}

const ok = 'HTTP/1.1 200 OK\r\n';
/** Where parsers have differed: framing, line ends, numbers, missing and surplus parts. */
const corpus = [
  `${ok}content-length: 5\r\n\r\nhello`,
  `${ok}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
  `${ok}content-length: 5, 5\r\n\r\nhello`,
  `${ok}content-length: 05\r\n\r\nhello`,
  `${ok}content-length: 5 \r\n\r\nhello`,
  `${ok}content-length:\t5\r\n\r\nhello`,
  `${ok}content-length: 5\t\r\n\r\nhello`,
  `${ok}content-length: 5\xa0\r\n\r\nhello`,
  `${ok}transfer-encoding: chunked\t\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: \tchunked \r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: chunked\xa0\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${ok}content-length: 0x5\r\n\r\nhello`,
  `${ok}content-length: -5\r\n\r\nhello`,
  `${ok}content-length: 18446744073709551616\r\n\r\nhello`,
  `${ok}content-length: 3\r\n\r\nhello`,
  `${ok}content-length: 9\r\n\r\nhello`,
  `${ok}\r\nuntil the end`,
  `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${ok}Transfer-Encoding: Chunked\r\n\r\n5;a=b;c="d"\r\nhello\r\n00000\r\nx: y\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\ncontent-length: 5\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\ntransfer-encoding: chunked\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\nA\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n5\nhello\n0\n\n`,
  `${ok}transfer-encoding: chunked\r\n\r\nfffffffff\r\nhello`,
  `${ok}transfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\nhello`,
  `${ok}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: gzip\r\n\r\nhello`,
  `${ok}transfer-encoding: chunked, gzip\r\n\r\nhello`,
  `${ok}transfer-encoding: identity\r\n\r\nhello`,
  `HTTP/1.1 204 x\r\ncontent-length: 5\r\n\r\nhello`,
  `HTTP/1.1 304 x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `HTTP/1.1 100 Continue\r\n\r\n${ok}content-length: 2\r\n\r\nok`,
  `HTTP/1.1 103 x\r\nlink: a\r\n\r\n${ok}content-length: 2\r\n\r\nok`,
  `HTTP/1.1 101 x\r\nupgrade: b\r\nconnection: upgrade\r\n\r\nhello`,
  `HTTP/1.0 200 OK\r\n\r\nhello`,
  `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok`,
  `HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok`,
  `HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok`,
  `HTTP/1.1  200 OK\r\ncontent-length: 2\r\n\r\nok`,
  `HTTP/1.1 99 x\r\ncontent-length: 2\r\n\r\nok`,
  `HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok`,
  `${ok}a : b\r\ncontent-length: 2\r\n\r\nok`,
  `${ok}a: b\r\n c\r\ncontent-length: 2\r\n\r\nok`,
  `${ok}a: b\ncontent-length: 2\r\n\r\nok`,
  `${ok}: b\r\ncontent-length: 2\r\n\r\nok`,
  `${ok}a\r\ncontent-length: 2\r\n\r\nok`,
  `${ok}a: \x00b\r\ncontent-length: 2\r\n\r\nok`,
  `${ok}content-length: 2\rx: y\r\n\r\nok`,
  `${ok}content-length: 2\r\n\r\nok${ok}content-length: 3\r\n\r\nbad`,
  `\r\n${ok}content-length: 2\r\n\r\nok`,
].map((text) => Buffer.from(text, 'latin1'));

const token = fc.constantFrom(
  ...['\r\n', '\n', '\r', ' ', '\t', ':', ',', ';', '0', '5', 'a', '\0', '-', '+', 'x', '\xff'],
  ...['\xa0', '\t\r\n', ' \t\r\n', '\xa0\r\n'],
  ...['content-length: 5\r\n', 'transfer-encoding: chunked\r\n', 'connection: close\r\n'],
  ...['0\r\n\r\n', '5\r\nhello\r\n', 'HTTP/1.1 ', '\r\n\r\n', ok],
);
const change = fc.record({
  at: fc.nat(400),
  remove: fc.integer({ min: 0, max: 6 }),
  insert: fc.oneof({ weight: 2, arbitrary: token }, { weight: 1, arbitrary: fc.constant('') }),
});
/** An answer of the corpus with up to four mutations. */
const bytesOf = fc
  .tuple(fc.constantFrom(...corpus), fc.array(change, { maxLength: 4 }))
  .map(([start, changes]) =>
    changes.reduce((text, { at, remove, insert }) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + insert + text.slice(place + remove);
    }, start.toString('latin1')),
  )
  .map((text) => Buffer.from(text, 'latin1'));

/** Undefined when our reading is acceptable. */
async function difference(bytes: Buffer, places: readonly number[]): Promise<object | undefined> {
  answer = [bytes];
  const [our, their] = [await ours(), await undicis()];
  const [atOnce, inPieces] = [cutIn([bytes]), cutIn(cut(bytes, places))];
  // Here undici is stricter than HTTP: it refuses unrequested interim answers, and a content-length without a body.
  const isTheirs = /^HTTP\/1\.[01] (?:10[02-9]|204|304)/.test(bytes.toString('latin1'));
  const isRefused = our === 'refused' || (their === 'refused' && isTheirs);
  const isSame = isRefused || isDeepStrictEqual(our, their);
  if (isSame && isDeepStrictEqual(atOnce, inPieces)) return undefined;
  return { bytes: bytes.toString('latin1'), our, their, atOnce, inPieces };
}

function howMany(): Pick<fc.Parameters, 'numRuns' | 'seed' | 'interruptAfterTimeLimit'> {
  if (FUZZ_SECONDS === undefined) return { numRuns: SHORT_RUNS, seed: SHORT_SEED };
  return {
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: Number(FUZZ_SECONDS) * 1_000,
    ...(FUZZ_SEED !== undefined && { seed: Number(FUZZ_SEED) }),
  };
}

it('reads every answer of the corpus as undici does, or refuses it', async () => {
  const differences = [];
  for (const bytes of corpus) differences.push(await difference(bytes, [1, 7, 20, 60]));
  expect(differences.filter((one) => one !== undefined)).toEqual([]);
});

it('reads any answer as undici does, or refuses it', async () => {
  await fc.assert(
    fc.asyncProperty(bytesOf, fc.array(fc.nat(400), { maxLength: 6 }), async (bytes, places) => {
      expect(await difference(bytes, places)).toBeUndefined();
    }),
    { ...howMany(), endOnFailure: true },
  );
}, 3_600_000);
