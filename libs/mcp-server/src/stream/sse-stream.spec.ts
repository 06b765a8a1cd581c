import { jest } from '@jest/globals';
import { loopPace, SharedBytes, UnsentBytes } from '@app/platform';
import { FakeExchange } from '../fake-exchange.js';
import { KeepAlive } from './keep-alive.js';
import { sharedBytesOf, SseStream } from './sse-stream.js';

const MB = 1_048_576;

let unsent: UnsentBytes;
let keepAlive: KeepAlive;
let exchange: FakeExchange;
let stream: SseStream;
beforeEach(() => {
  unsent = new UnsentBytes({ total: 100 * MB, perConnection: 100 * MB, stallMs: 600_000 });
  keepAlive = new KeepAlive();
  exchange = new FakeExchange();
  stream = new SseStream(exchange.response, ['x-own', 'header'], 'alice', { unsent, keepAlive });
});
afterEach(() => {
  keepAlive.close();
  unsent.close();
});

const large = (size = MB): SharedBytes => new SharedBytes(Buffer.alloc(size, '"'));

describe(SseStream.name, () => {
  it('begins with its headers, before there is a message', async () => {
    await exchange.settled();
    expect(exchange.status).toBe(200);
    expect(exchange.headers).toMatchObject({
      'x-own': 'header',
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect([exchange.text, stream.isOpen, stream.isBehind]).toEqual(['', true, false]);
  });

  it('writes messages as events, with an id if they have one', async () => {
    stream.send({ jsonrpc: '2.0', method: 'a\nb' });
    stream.sendBytes(new SharedBytes(Buffer.from('{}')), '1-2');
    await exchange.settled();
    expect(exchange.text).toBe(
      'event: message\ndata: {"jsonrpc":"2.0","method":"a\\nb"}\n\n' +
        'event: message\nid: 1-2\ndata: {}\n\n',
    );
  });

  it('ends after what it has to write', async () => {
    stream.sendBytes(large());
    stream.sendBytes(large());
    stream.end();
    expect(stream.isOpen).toBe(false);
    stream.sendBytes(large());
    await exchange.settled();
    expect(exchange.text.length).toBe(2 * (MB + 'event: message\ndata: \n\n'.length));
    expect(exchange.hasEnded).toBe(true);
    expect([unsent.total, keepAlive.size]).toEqual([0, 0]);
  });

  it('ends when its reader has caught up', async () => {
    await exchange.settled();
    exchange.stopReading();
    for (let count = 0; count < 20; count++) stream.sendBytes(large(10_000));
    stream.end();
    await exchange.settled();
    expect([stream.isBehind, exchange.hasEnded]).toEqual([true, false]);
    exchange.startReading();
    await exchange.settled();
    expect([exchange.hasEnded, exchange.text.match(/event/g)?.length]).toEqual([true, 20]);
  });

  it('ends at once when there is nothing to write', async () => {
    stream.end();
    await exchange.settled();
    expect([exchange.hasEnded, exchange.text]).toEqual([true, '']);
  });

  it('hands to the connection no more than a little ahead of its reading', async () => {
    await exchange.settled();
    exchange.stopReading();
    for (let count = 0; count < 20; count++) stream.sendBytes(large(10_000));
    await exchange.settled();
    expect(exchange.response.writableLength).toBeGreaterThan(60_000);
    expect(exchange.response.writableLength).toBeLessThan(80_000);
    expect(stream.isBehind).toBe(true);
    expect(unsent.total).toBeGreaterThan(190_000);
    exchange.startReading();
    await exchange.settled();
    expect([stream.isBehind, unsent.total, exchange.response.writableLength]).toEqual([
      false,
      0,
      0,
    ]);
    expect(exchange.text.length).toBe(20 * (10_000 + 'event: message\ndata: \n\n'.length));
  });

  it('calls back when its reader has caught up, at once if it has already', async () => {
    const read = jest.fn();
    stream.onceRead(read);
    expect(read).toHaveBeenCalledTimes(1);
    await exchange.settled();
    exchange.stopReading();
    for (let count = 0; count < 20; count++) stream.sendBytes(large(10_000));
    stream.onceRead(read);
    await exchange.settled();
    expect(read).toHaveBeenCalledTimes(1);
    exchange.startReading();
    await exchange.settled();
    expect(read).toHaveBeenCalledTimes(2);
    stream.sendBytes(large(10));
    await exchange.settled();
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('holds messages for as long as the connection has not taken them', async () => {
    await exchange.settled();
    exchange.stopReading();
    const bytes = large(1_000);
    stream.sendBytes(bytes);
    await exchange.settled();
    expect(unsent.total).toBeGreaterThan(1_000);
    expect(bytes.holders).toBe(1);
    exchange.startReading();
    await exchange.settled();
    expect([unsent.total, bytes.holders]).toEqual([0, 0]);
  });

  it('lets go of its messages when the client is gone, and takes no more', async () => {
    await exchange.settled();
    exchange.stopReading();
    for (let count = 0; count < 20; count++) stream.sendBytes(large(10_000));
    const read = jest.fn();
    stream.onceRead(read);
    exchange.disconnect();
    await exchange.settled();
    expect([unsent.total, stream.isOpen, stream.isBehind, keepAlive.size]).toEqual([
      0,
      false,
      false,
      0,
    ]);
    expect(read).toHaveBeenCalledTimes(1);
    stream.sendBytes(large());
    expect(unsent.total).toBe(0);
  });

  it('drops its messages when its connection is cut', async () => {
    const cuts: string[] = [];
    const limits = { total: 100 * MB, perConnection: 100_000, stallMs: 600_000 };
    const small = new UnsentBytes(limits, ({ reason }) => cuts.push(reason));
    const other = new FakeExchange();
    const cut = new SseStream(other.response, [], 'bob', { unsent: small, keepAlive });
    await other.settled();
    other.stopReading();
    const read = jest.fn();
    for (let count = 0; count < 9; count++) cut.sendBytes(large(10_000));
    cut.onceRead(read);
    for (let count = 0; count < 9; count++) cut.sendBytes(large(10_000));
    expect(cuts).toEqual(['connection_bytes']);
    expect([small.total, cut.isOpen, cut.isBehind]).toEqual([0, false, false]);
    expect(read).toHaveBeenCalledTimes(1);
    await other.settled();
    expect(small.total).toBe(0);
    small.close();
  });

  it('writes large messages in a later turn when the time of this one is used up, in order', async () => {
    await exchange.settled();
    loopPace.run(() => {
      const until = performance.now() + 3;
      while (performance.now() < until);
    });
    stream.sendBytes(large(16_384));
    expect(stream.isBehind).toBe(false);
    stream.sendBytes(large(16_385));
    stream.sendBytes(large(10));
    expect(stream.isBehind).toBe(true);
    await exchange.settled();
    expect(stream.isBehind).toBe(false);
    const sizes = [...exchange.text.matchAll(/data: (.*)\n\n/g)].map(
      ([, data = '']) => data.length,
    );
    expect(sizes).toEqual([16_384, 16_385, 10]);
  });

  it('is kept alive only while nothing is being written', async () => {
    await exchange.settled();
    stream.ping();
    await exchange.settled();
    expect(exchange.text).toBe(': keepalive\n\n');
    exchange.stopReading();
    stream.sendBytes(large(10));
    stream.ping();
    exchange.startReading();
    await exchange.settled();
    expect(exchange.text.match(/keepalive/g)).toHaveLength(1);
    stream.end();
    stream.ping();
    await exchange.settled();
    expect(exchange.text.match(/keepalive/g)).toHaveLength(1);
  });
});

describe(sharedBytesOf, () => {
  it('is the message on one line', () => {
    const bytes = sharedBytesOf({ jsonrpc: '2.0', method: 'a', params: { b: 'ä' } });
    expect(bytes.bytes.toString()).toBe('{"jsonrpc":"2.0","method":"a","params":{"b":"ä"}}');
    expect(bytes.holders).toBe(0);
  });
});
