import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NonReader } from '../../../../test/fixtures/non-reader.js';
import { eventually } from '../../../../test/support/eventually.js';
import { type Cut, SharedBytes, UnsentBytes, type UnsentLimits } from './unsent-bytes.js';

const MB = 1_048_576;

let server: Server;
let url: URL;
let unsent: UnsentBytes;
let cuts: Cut[];
let answer: (response: ServerResponse, owner: string) => void;
const readers: NonReader[] = [];

async function start(limits: Partial<UnsentLimits>, now?: () => number): Promise<void> {
  cuts = [];
  const all = { total: 1_000 * MB, perConnection: 1_000 * MB, stallMs: 600_000, ...limits };
  unsent = new UnsentBytes(all, (cut) => cuts.push(cut), now);
  server = createServer((request, response) => {
    answer(response, String(request.headers['x-owner'] ?? 'alice'));
  });
  unsent.adopt(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  unsent.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function ask(owner: string, times = 1): NonReader {
  const reader = new NonReader(url, { 'x-owner': owner });
  readers.push(reader);
  for (let i = 0; i < times; i++) reader.request('GET');
  return reader;
}

/** Reads slowly, so that the response stays unsent for a while; returns the number of bytes received. */
function read(owner: string, onRead: (bytes: number) => void = () => undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers: { 'x-owner': owner } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        onRead(chunk.length);
        response.pause();
        setImmediate(() => response.resume());
      });
      response.on('end', () => resolve(bytes)).on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

const whole = (size: number) => (response: ServerResponse, owner: string) => {
  response.end(Buffer.alloc(size));
  unsent.watch(response, owner);
};

describe(UnsentBytes.name, () => {
  it('keeps to its total by cutting connections of answers that are not read', async () => {
    await start({ total: 40 * MB });
    answer = whole(9 * MB);
    for (let i = 0; i < 12; i++) ask('alice');
    await eventually(() => expect(cuts.length).toBeGreaterThanOrEqual(8));
    expect(unsent.total).toBeLessThanOrEqual(40 * MB);
    expect(new Set(cuts.map(({ reason }) => reason))).toEqual(new Set(['unsent_bytes']));
  });

  it('disconnects the principal with the most unread bytes, and delivers the answers of others', async () => {
    await start({ total: 40 * MB });
    answer = whole(9 * MB);
    for (let i = 0; i < 4; i++) ask('alice');
    await eventually(() => expect(unsent.total).toBeGreaterThan(30 * MB));
    expect(await Promise.all([read('bob'), read('bob')])).toEqual([9 * MB, 9 * MB]);
    expect(new Set(cuts.map(({ principal }) => principal))).toEqual(new Set(['alice']));
  });

  it('releases bytes that were read', async () => {
    await start({});
    answer = whole(9 * MB);
    expect(await read('bob')).toBe(9 * MB);
    await eventually(() => expect(unsent.total).toBe(0));
    expect(cuts).toEqual([]);
  });

  it('cuts a connection that asks for more answers than it may leave unread', async () => {
    await start({ perConnection: 20 * MB });
    answer = whole(9 * MB);
    ask('alice', 5);
    await eventually(() => expect(cuts).toMatchObject([{ reason: 'connection_bytes' }]));
    await eventually(() => expect(unsent.total).toBe(0));
  });

  it('delivers one answer that is larger than the share of a connection', async () => {
    await start({ perConnection: MB });
    answer = whole(30 * MB);
    expect(await read('bob')).toBe(30 * MB);
    expect(cuts).toEqual([]);
  });

  it('cuts a connection that takes nothing for too long, also of an answer that was not announced', async () => {
    await start({ stallMs: 200 });
    answer = (response) => response.end(Buffer.alloc(20 * MB));
    ask('alice');
    await eventually(() => expect(cuts).toMatchObject([{ reason: 'write_stalled' }]));
  });

  it('does not cut a reader that is slow but reads', async () => {
    // A millisecond passes with each MB that is read: a busy machine may interrupt the reading for long.
    let time = 0;
    await start({ stallMs: 40 }, () => time);
    answer = whole(100 * MB);
    expect(await read('bob', (bytes) => (time += bytes / MB))).toBe(100 * MB);
    expect(cuts).toEqual([]);
  });

  it('counts bytes that several readers hold once', async () => {
    await start({});
    const shared = new SharedBytes(Buffer.alloc(MB));
    unsent.keep(shared);
    unsent.keep(shared);
    expect(unsent.total).toBeLessThan(1.1 * MB);
    unsent.letGo(shared);
    expect(unsent.total).toBeGreaterThan(MB);
    unsent.letGo(shared);
    expect(unsent.total).toBe(0);
  });
});
