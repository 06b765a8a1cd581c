import { rpcCode, type RpcMessage } from '@app/mcp-protocol';
import { RawJsonObject, UnsentBytes } from '@app/platform';
import { FakeExchange } from '../fake-exchange.js';
import { KeepAlive } from '../stream/keep-alive.js';
import { ClientResponse, type Outlet } from './client-response.js';

const MB = 1_048_576;
const answer = (id: number, result = {}) => ({ jsonrpc: '2.0', id, result }) as const;
const note = { jsonrpc: '2.0', method: 'notifications/x' } as const;

let unsent: UnsentBytes;
let keepAlive: KeepAlive;
let exchange: FakeExchange;
let response: ClientResponse;
beforeEach(() => {
  unsent = new UnsentBytes({ total: 100 * MB, perConnection: 100 * MB, stallMs: 600_000 });
  keepAlive = new KeepAlive();
  exchange = new FakeExchange();
  response = new ClientResponse(exchange.response, ['x-own', 'header'], 'alice', {
    unsent,
    keepAlive,
  });
});
afterEach(() => {
  keepAlive.close();
  unsent.close();
});

describe(ClientResponse.name, () => {
  it('is a JSON body when there is an answer alone', async () => {
    response.finish(answer(1, { text: 'ä' }), ['x-more', 'too']);
    await exchange.settled();
    expect(exchange.status).toBe(200);
    expect(exchange.headers).toMatchObject({
      'x-own': 'header',
      'x-more': 'too',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength('{"jsonrpc":"2.0","id":1,"result":{"text":"ä"}}')),
    });
    expect(exchange.json).toEqual(answer(1, { text: 'ä' }));
    expect([exchange.hasEnded, response.isOpen]).toEqual([true, false]);
  });

  it('writes a large result that is passed on in pieces, whole', async () => {
    const text = 'x'.repeat(MB);
    response.finish({ jsonrpc: '2.0', id: 1, result: RawJsonObject.of({ text }) });
    await exchange.settled();
    expect(exchange.json).toEqual(answer(1, { text }));
    expect(exchange.headers['content-length']).toBe(String(exchange.text.length));
  });

  it.each([
    [rpcCode.missingCapability, 400],
    [rpcCode.invalidParams, 200],
  ])('has for an error of code %s the status %s', async (code, status) => {
    response.finish({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } });
    expect((await exchange.settled()).status).toBe(status);
  });

  it('is a stream when a message comes before the answer', async () => {
    response.send(note);
    response.finish(answer(1));
    await exchange.settled();
    expect(exchange.headers).toMatchObject({
      'x-own': 'header',
      'content-type': 'text/event-stream',
    });
    expect(exchange.messages).toEqual([note, answer(1)]);
    expect(exchange.hasEnded).toBe(true);
  });

  it('records what its stream has, also when the client is gone', async () => {
    const recorded: (RpcMessage | 'end')[] = [];
    const outlet: Outlet = {
      isRead: true,
      send: (message) => recorded.push(message),
      end: () => recorded.push('end'),
    };
    response.recordWith(() => outlet);
    response.send(note);
    exchange.disconnect();
    await exchange.settled();
    response.send(note);
    response.finish(answer(1));
    expect(recorded).toEqual([note, note, answer(1), 'end']);
  });

  it('drops what comes when the client is gone', async () => {
    exchange.disconnect();
    await exchange.settled();
    expect(response.isOpen).toBe(false);
    response.send(note);
    response.accept();
    response.refuse(400, { code: 1, message: 'no' });
    response.finish(answer(1));
    response.end();
    await exchange.settled();
    expect([exchange.text, unsent.total, keepAlive.size]).toEqual(['', 0, 0]);
  });

  it('sends nothing after the answer', async () => {
    response.finish(answer(1));
    response.finish(answer(2));
    response.send(note);
    response.end();
    expect((await exchange.settled()).json).toEqual(answer(1));
  });

  it('ends with the last of the answers that it expects', async () => {
    response.expect(3);
    response.settle(answer(1));
    response.settle(undefined);
    expect((await exchange.settled()).messages).toEqual([answer(1)]);
    expect(exchange.hasEnded).toBe(false);
    response.settle(answer(3));
    expect((await exchange.settled()).messages).toEqual([answer(1), answer(3)]);
    expect(exchange.hasEnded).toBe(true);
  });

  it('ends without an answer when the client cancelled all its requests', async () => {
    response.expect(2);
    response.settle(undefined);
    expect((await exchange.settled()).hasEnded).toBe(false);
    response.settle(undefined);
    await exchange.settled();
    expect([exchange.hasEnded, exchange.status, exchange.text]).toEqual([true, 200, '']);
    expect(exchange.headers['x-own']).toBe('header');
  });

  it('ends its stream when the client cancelled the request', async () => {
    response.send(note);
    response.settle(undefined);
    expect((await exchange.settled()).messages).toEqual([note]);
    expect(exchange.hasEnded).toBe(true);
  });

  it('accepts a message that has no answer', async () => {
    response.accept();
    await exchange.settled();
    expect([exchange.status, exchange.text, exchange.hasEnded]).toEqual([202, '', true]);
    expect(exchange.headers['x-own']).toBe('header');
  });

  it('refuses with a status, or on the stream that has begun', async () => {
    const error = { code: 7, message: 'no' };
    response.refuse(503, error, 'id', ['retry-after', '5']);
    await exchange.settled();
    expect([exchange.status, exchange.headers['retry-after']]).toEqual([503, '5']);
    expect(exchange.json).toEqual({ jsonrpc: '2.0', id: 'id', error });

    const other = new FakeExchange();
    const begun = new ClientResponse(other.response, [], 'alice', { unsent, keepAlive });
    begun.send(note);
    begun.refuse(503, error);
    expect((await other.settled()).messages).toEqual([note, { jsonrpc: '2.0', id: null, error }]);
    expect([other.status, other.hasEnded]).toEqual([200, true]);
  });

  it('has one stream', () => {
    expect(response.openStream()).toBe(response.openStream());
  });

  it('holds an answer that the client does not read', async () => {
    exchange.stopReading();
    response.finish(answer(1, { text: 'x'.repeat(MB) }));
    expect(unsent.total).toBeGreaterThan(MB);
    await exchange.settled();
    exchange.startReading();
    await exchange.settled();
    expect(unsent.total).toBe(0);
  });

  it('says when the client is gone, also if it is gone already', async () => {
    const gone: string[] = [];
    response.onClientGone(() => gone.push('while it waits'));
    await exchange.settled();
    expect(gone).toEqual([]);
    exchange.disconnect();
    await exchange.settled();
    response.onClientGone(() => gone.push('before'));
    expect(gone).toEqual(['while it waits', 'before']);
  });

  it('does not take a client for gone that got its answer', async () => {
    const gone: string[] = [];
    response.onClientGone(() => gone.push('gone'));
    response.finish(answer(1));
    await exchange.settled();
    expect(gone).toEqual([]);
  });

  it('has caught up when the client has read', async () => {
    expect(response.caughtUp()).toBeUndefined();
    response.send(note);
    await exchange.settled();
    expect(response.caughtUp()).toBeUndefined();
    exchange.stopReading();
    for (let count = 0; count < 10; count++) {
      response.send({ ...note, params: { text: 'x'.repeat(10_000) } });
    }
    let hasRead = false;
    const reading = response.caughtUp()?.then(() => (hasRead = true));
    await exchange.settled();
    expect([reading, hasRead]).toEqual([expect.any(Promise), false]);
    exchange.startReading();
    await reading;
    expect(hasRead).toBe(true);
  });
});
