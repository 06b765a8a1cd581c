import { SharedBytes, UnsentBytes } from '@app/platform';
import { FakeExchange } from '../fake-exchange.js';
import { KeepAlive } from './keep-alive.js';
import { SseStream } from './sse-stream.js';
import { KeptEvents, readEventId, StreamLog } from './stream-log.js';

let now: number;
let unsent: UnsentBytes;
let keepAlive: KeepAlive;
let kept: KeptEvents;
let gone: string[];
const exchanges: FakeExchange[] = [];

beforeEach(() => {
  now = 1_000_000;
  gone = [];
  keepAlive = new KeepAlive();
  begin(40_000_000);
});
afterEach(() => {
  keepAlive.close();
  unsent.close();
});

/** A quarter of the total may be kept. */
function begin(total: number): void {
  unsent?.close();
  unsent = new UnsentBytes({ total, perConnection: total, stallMs: 600_000 });
  kept = new KeptEvents({ monotonic: () => now }, unsent);
}

function connected(): { exchange: FakeExchange; stream: SseStream } {
  const exchange = new FakeExchange();
  exchanges.push(exchange);
  return { exchange, stream: new SseStream(exchange.response, [], 'alice', { unsent, keepAlive }) };
}

const logOf = (owner = 'alice', reader?: SseStream, name = 3): StreamLog =>
  new StreamLog(owner, name, kept, reader, () => gone.push(owner));

const message = (n: number) => ({ jsonrpc: '2.0', method: `m${n}` }) as const;
const bytes = (size = 1_000): SharedBytes => new SharedBytes(Buffer.alloc(size, '1'));

async function idsOn(exchange: FakeExchange): Promise<(string | undefined)[]> {
  return (await exchange.settled()).events.map(({ id }) => id);
}

describe(StreamLog.name, () => {
  it('sends to its reader, and numbers its events', async () => {
    const { exchange, stream } = connected();
    const log = logOf('alice', stream);
    log.send(message(1));
    log.send(message(2));
    expect((await exchange.settled()).events).toEqual([
      { id: '3-1', message: message(1) },
      { id: '3-2', message: message(2) },
    ]);
  });

  it('records without a reader, and replays to the next one', async () => {
    const log = logOf();
    log.send(message(1));
    log.send(message(2));
    const { exchange, stream } = connected();
    log.continueOn(stream, 1);
    log.send(message(3));
    expect(await idsOn(exchange)).toEqual(['3-2', '3-3']);
  });

  it('moves to another reader without a replay', async () => {
    const [one, other] = [connected(), connected()];
    const log = logOf('alice', one.stream);
    log.send(message(1));
    log.moveTo(other.stream);
    log.send(message(2));
    log.moveTo(undefined);
    log.send(message(3));
    expect([await idsOn(one.exchange), await idsOn(other.exchange)]).toEqual([['3-1'], ['3-2']]);
  });

  it('lets its reader catch up when it is moved to the same one', async () => {
    const { exchange, stream } = connected();
    await exchange.settled();
    const log = logOf('alice', stream);
    exchange.stopReading();
    const large = new SharedBytes(Buffer.from(`"${'x'.repeat(70_000)}"`));
    for (let count = 0; count < 4; count++) log.sendBytes(large);
    log.continueOn(stream, 4);
    log.moveTo(stream);
    exchange.startReading();
    expect(await idsOn(exchange)).toEqual(['3-1', '3-2', '3-3', '3-4']);
  });

  it('replays no faster than its reader reads, and misses nothing', async () => {
    const log = logOf();
    for (let count = 0; count < 50; count++) {
      log.sendBytes(new SharedBytes(Buffer.from(`"${'x'.repeat(10_000)}"`)));
    }
    const { exchange, stream } = connected();
    await exchange.settled();
    exchange.stopReading();
    log.continueOn(stream, 0);
    log.send(message(51));
    await exchange.settled();
    // What is kept anyway does not count for the connection before it is written.
    expect(exchange.response.writableLength).toBeLessThan(90_000);
    exchange.startReading();
    expect(await idsOn(exchange)).toEqual(Array.from({ length: 51 }, (_, n) => `3-${n + 1}`));
  });

  it('ends a reader that waits for an event which is no longer kept', async () => {
    const log = logOf();
    for (let count = 0; count < 20; count++) {
      log.sendBytes(new SharedBytes(Buffer.from(`"${'x'.repeat(10_000)}"`)));
    }
    const { exchange, stream } = connected();
    await exchange.settled();
    exchange.stopReading();
    log.continueOn(stream, 0);
    await exchange.settled();
    now += 300_000;
    kept.trimAll();
    exchange.startReading();
    const ids = await idsOn(exchange);
    expect(ids.length).toBeLessThan(20);
    expect(exchange.hasEnded).toBe(true);
  });

  it('does not feed a reader that it has left', async () => {
    const log = logOf();
    for (let count = 0; count < 20; count++) {
      log.sendBytes(new SharedBytes(Buffer.from(`"${'x'.repeat(10_000)}"`)));
    }
    const { exchange, stream } = connected();
    await exchange.settled();
    exchange.stopReading();
    log.continueOn(stream, 0);
    log.moveTo(undefined);
    exchange.startReading();
    const before = (await idsOn(exchange)).length;
    expect(before).toBeLessThan(20);
    log.send(message(21));
    expect(await idsOn(exchange)).toHaveLength(before);
  });

  it('reaches from the event before the first one kept to the last one', () => {
    const log = logOf();
    expect([log.reaches(0), log.reaches(1)]).toEqual([true, false]);
    log.sendBytes(bytes());
    now += 200_000;
    log.sendBytes(bytes());
    log.sendBytes(bytes());
    expect([0, 1, 3, 4].map((number) => log.reaches(number))).toEqual([true, true, true, false]);
    now += 100_000;
    kept.trimAll();
    expect([0, 1, 2, 3, 4].map((number) => log.reaches(number))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    now += 300_000;
    kept.trimAll();
    expect([2, 3, 4].map((number) => log.reaches(number))).toEqual([false, true, false]);
  });

  it('ends its reader, and is resumed until its events are gone', async () => {
    const { exchange, stream } = connected();
    const log = logOf('alice', stream);
    log.send(message(1));
    log.end();
    expect((await exchange.settled()).hasEnded).toBe(true);
    const again = connected();
    log.continueOn(again.stream, 0);
    expect(await idsOn(again.exchange)).toEqual(['3-1']);
    expect([again.exchange.hasEnded, gone]).toEqual([true, []]);
    now += 300_000;
    kept.trimAll();
    expect(gone).toEqual(['alice']);
  });

  it('is gone at once when it ends without events', () => {
    logOf().end();
    expect(gone).toEqual(['alice']);
  });

  it('is not gone while it has another event', () => {
    const log = logOf();
    log.sendBytes(bytes());
    now += 1;
    log.sendBytes(bytes());
    log.end();
    now += 299_999;
    kept.trimAll();
    expect([gone, log.reaches(1)]).toEqual([[], true]);
  });

  it('is not gone while more events may come', () => {
    const log = logOf();
    log.sendBytes(bytes());
    now += 300_000;
    kept.trimAll();
    expect(gone).toEqual([]);
  });

  it('when it is discarded keeps nothing, but still serves its reader', async () => {
    const { exchange, stream } = connected();
    const log = logOf('alice', stream);
    log.sendBytes(bytes());
    log.discard();
    log.sendBytes(bytes());
    expect(await idsOn(exchange)).toEqual(['3-1', '3-2']);
    expect([unsent.total, log.reaches(0)]).toEqual([0, false]);
  });
});

describe(KeptEvents.name, () => {
  it('keep events for five minutes', () => {
    const log = logOf();
    log.sendBytes(bytes());
    now += 299_999;
    kept.trimAll();
    expect(log.reaches(0)).toBe(true);
    now += 1;
    kept.trim('bob');
    expect(log.reaches(0)).toBe(true);
    kept.trim('alice');
    expect(log.reaches(0)).toBe(false);
    expect(unsent.total).toBe(0);
  });

  it('drop old events of a principal when it gets new ones', () => {
    const [old, other] = [logOf(), logOf('bob')];
    old.sendBytes(bytes());
    other.sendBytes(bytes());
    now += 300_000;
    logOf().sendBytes(bytes());
    expect([old.reaches(0), other.reaches(0)]).toEqual([false, true]);
  });

  it('evict the oldest events of the principal that has most', () => {
    begin(40_000);
    const bob = logOf('bob');
    bob.sendBytes(bytes());
    const alice = logOf();
    for (let count = 0; count < 5; count++) alice.sendBytes(bytes());
    // Nine thousand bytes with what each event takes besides.
    expect([bob.reaches(0), alice.reaches(0)]).toEqual([true, true]);
    alice.sendBytes(bytes());
    expect([bob.reaches(0), alice.reaches(0), alice.reaches(1)]).toEqual([true, false, true]);
    expect(bob.reaches(1)).toBe(true);
  });

  it('keep no event that is larger than all that may be kept', () => {
    begin(40_000);
    const log = logOf();
    log.sendBytes(bytes(20_000));
    expect([log.reaches(0), log.reaches(1), unsent.total]).toEqual([false, true, 0]);
    for (let count = 0; count < 6; count++) log.sendBytes(bytes());
    expect(log.reaches(1)).toBe(true);
  });

  it('have room again for each that is dropped', () => {
    begin(40_000);
    const log = logOf();
    for (let count = 0; count < 30; count++) {
      log.sendBytes(bytes());
      now += 300_000;
      kept.trimAll();
    }
    for (let count = 0; count < 6; count++) log.sendBytes(bytes());
    expect([log.reaches(29), log.reaches(30)]).toEqual([false, true]);
  });

  it('drop an event once', () => {
    const log = logOf();
    log.sendBytes(bytes());
    const event = kept.keep(log, 2, bytes());
    const before = unsent.total;
    kept.drop(event);
    const after = unsent.total;
    kept.drop(event);
    expect([before > after, unsent.total]).toEqual([true, after]);
  });
});

describe(readEventId, () => {
  it('reads the stream and the number', () => {
    expect(readEventId('12-345')).toEqual({ name: 12, number: 345 });
  });

  it.each([
    '',
    '1',
    '1-',
    '-1',
    'a-1',
    '1-a',
    '1-1-1',
    ' 1-1',
    '1-1 ',
    '1234567890123456-1',
    '1-1234567890123456',
  ])('reads nothing from %j', (id) => expect(readEventId(id)).toBeUndefined());
});
