import { readFrame, type UnreadableMessage } from './read-frame.js';
import { readMessage } from './read-message.js';
import { messageText } from './write-message.js';

const read = (text: string | Buffer): { id: unknown; result: string } | undefined => {
  const received = readFrame(Buffer.from(text));
  if (received.kind !== 'answer') return undefined;
  return { id: received.id, result: received.result.bytes.toString() };
};
const unreadable = (text: string | Buffer): UnreadableMessage | undefined => {
  const received = readFrame(Buffer.from(text));
  return received.kind === 'unreadable' ? received : undefined;
};
const big = `{"big":"${'x'.repeat(40_000)}"}`;

describe(readFrame.name, () => {
  it.each([
    '{"jsonrpc":"2.0","id":1234,"result":{"a":1.0}}',
    '{"result":{"a":1.0},"jsonrpc":"2.0","id":1234}',
    '{"id":1234,"jsonrpc":"2.0","result":{"a":1.0}}',
    ' {\n "jsonrpc" : "2.0", "result" : {"a":1.0}, "id" : 1234 }\n',
    '{"jsonrpc":"2.0","id":1234,"result":{"a":1.0},"more":true}',
  ])('takes the result out of %j as it is written', (text) => {
    expect(read(text)).toEqual({ id: 1_234, result: '{"a":1.0}' });
  });

  it('accepts a string id', () => {
    expect(read('{"jsonrpc":"2.0","id":"a","result":{}}')).toEqual({ id: 'a', result: '{}' });
  });

  it('accepts an id beyond the range of JavaScript numbers', () => {
    expect(read('{"jsonrpc":"2.0","id":9007199254740993,"result":{}}')?.id).toBe(
      9_007_199_254_740_993n,
    );
    expect(read('{"jsonrpc":"2.0","id":"1001","result":{}}')?.id).toBe('1001');
  });

  it('does not convert a number of a million digits to an id', () => {
    const digits = '9'.repeat(1_000_000);
    expect(read(`{"jsonrpc":"2.0","id":${digits},"result":{}}`)?.id).toBeUndefined();
    const asked = readFrame(Buffer.from(`{"jsonrpc":"2.0","id":${digits},"method":"ping"}`));
    const incoming = asked.kind === 'messages' ? asked.messages[0]?.incoming : undefined;
    expect(incoming).toMatchObject({ kind: 'notification' });
    expect(readMessage({ jsonrpc: '2.0', id: Infinity, method: 'ping' })).toEqual({
      kind: 'invalid',
    });
  });

  it('reads a large result as it reads a small one', () => {
    expect(read(`{"jsonrpc":"2.0","id":7,"result":${big}}`)).toEqual({ id: 7, result: big });
    expect(read(`{"result":${big},"jsonrpc":"2.0","id":7}`)).toEqual({ id: 7, result: big });
  });

  it('reads a result with more members than are indexed', () => {
    const many = Array.from({ length: 300_000 }, (_, i) => `"m${i}":1`).join();
    const result = `{"isError":true,${many}}`;
    const received = readFrame(Buffer.from(`{"jsonrpc":"2.0","result":${result},"id":7}`));
    if (received.kind !== 'answer') throw new Error(received.kind);
    expect([received.id, received.result.get('isError')]).toEqual([7, true]);
    expect(received.result.bytes.toString() === result).toBe(true);
    expect(received.result.without('isError').bytes.toString() === `{${many}}`).toBe(true);
  });

  it('reads an answer with a byte order mark', () => {
    expect(read('\ufeff{"jsonrpc":"2.0","id":7,"result":{"a":1.0}}')).toEqual({
      id: 7,
      result: '{"a":1.0}',
    });
  });

  it('uses the last of duplicate members, as JSON.parse does', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"result":{},"id":2}')?.id).toBe(2);
    expect(read('{"result":{},"result":{"b":1},"jsonrpc":"2.0","id":1}')?.result).toBe('{"b":1}');
    expect(read('{"jsonrpc":"2.0","id":1,"result":{"a":1,"\\u0061":2}}')?.result).toBe(
      '{"a":1,"\\u0061":2}',
    );
  });

  it.each([0, 100_000])('reports invalid JSON and its position, after %i other bytes', (size) => {
    const text = `{"jsonrpc":"2.0","id":12,"result":{"text":"${'x'.repeat(size)}","n":NaN}}`;
    expect(unreadable(text)).toMatchObject({
      id: 12,
      isMessage: true,
      reason: `NaN at byte ${text.indexOf('NaN')}`,
    });
  });

  it('finds the id of invalid JSON at its end too, and string ids', () => {
    expect(unreadable('{"result":{"n":NaN},"jsonrpc":"2.0","id":"a-1"}')?.id).toBe('a-1');
  });

  it('distinguishes a log line from a message', () => {
    expect(unreadable('{"level":"info", nothing: 1}')?.isMessage).toBe(false);
  });

  it('refuses bytes that are not UTF-8', () => {
    const text = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"?"}}');
    text[39] = 0xff;
    expect(unreadable(text)?.reason).toBe('a byte that is not UTF-8 at byte 39');
  });

  it('does not parse a notification with 900,000 values', () => {
    const text = `{"jsonrpc":"2.0","method":"x","params":{"a":[${'1,'.repeat(900_000)}1]}}`;
    expect(unreadable(text)?.reason).toMatch(/more than 100000 values/);
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('does not parse a notification that is nested too deep with %j', (open, close) => {
    const nested = (levels: number): string =>
      `{"jsonrpc":"2.0","method":"x","params":{"a":${open.repeat(levels)}1${close.repeat(levels)}}}`;
    expect(unreadable(nested(8_000))).toMatchObject({
      isMessage: true,
      reason: expect.stringMatching(/more than 1000 levels/) as string,
    });
    expect(readFrame(Buffer.from(nested(900)))).toMatchObject({ messages: [{}] });
  });

  it('keeps the bytes of a result however deep it is nested', () => {
    const result = `{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
    expect(read(`{"jsonrpc":"2.0","id":1,"result":${result}}`)).toEqual({ id: 1, result });
  });

  it('does not read a batch of more than 100 messages', () => {
    const batch = (size: number): string =>
      `[${Array<string>(size).fill('{"jsonrpc":"2.0","method":"x"}').join()}]`;
    expect(unreadable(batch(101))).toMatchObject({
      isMessage: true,
      reason: 'more than 100 messages in a batch',
    });
    expect(readFrame(Buffer.from(batch(100)))).toMatchObject({ messages: { length: 100 } });
  });

  it('takes the messages of a server out of a batch, and leaves the rest', () => {
    const batch = [
      { id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, result: [1] },
      7,
      { nothing: true },
      { method: 'notifications/x' },
    ];
    expect(readFrame(Buffer.from(JSON.stringify(batch)))).toMatchObject({
      kind: 'messages',
      messages: [
        { raw: batch[0], incoming: { kind: 'request' } },
        { raw: batch[1], incoming: { kind: 'invalid', answers: 2 } },
        { raw: batch[4], incoming: { kind: 'notification' } },
      ],
    });
  });

  it('does not mistake members of the result for those of the message', () => {
    const result = '{"id":5,"method":"x","error":{},"result":{}}';
    expect(read(`{"jsonrpc":"2.0","id":1,"result":${result}}`)).toEqual({ id: 1, result });
  });

  it.each(['1.5', '1e3', '"7"', '-3'])('keeps the id %s as JSON has it', (id) => {
    expect(read(`{"jsonrpc":"2.0","id":${id},"result":{}}`)?.id).toBe(JSON.parse(id));
  });

  it('forwards a parsed message as it was written', () => {
    const params = '{"level":"info","data":9007199254740993,"2":1,"1":1.0}';
    const received = readFrame(
      Buffer.from(`{"jsonrpc":"2.0","method":"notifications/message","params":${params}}`),
    );
    const [first] = received.kind === 'messages' ? received.messages : [];
    const incoming = first?.incoming;
    if (incoming?.kind !== 'notification') throw new Error('no notification');
    expect(messageText({ jsonrpc: '2.0', method: 'x', params: incoming.message.params })).toBe(
      `{"jsonrpc":"2.0","method":"x","params":${params}}`,
    );
  });

  it.each([
    ['two messages in one', `{"jsonrpc":"2.0","id":1,"result":${big}},{"x":{}}`],
    ['no JSON in the result', '{"jsonrpc":"2.0","id":1,"result":{"a":nonsense}}'],
    ['a result that is no object', '{"jsonrpc":"2.0","id":1,"result":[1]}'],
    ['an error', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}'],
    ['a request', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"result":{}}]'],
    ['no id', '{"jsonrpc":"2.0","result":{}}'],
    ['half an answer', '{"jsonrpc":"2.0","id":1,"result":{"a":'],
    ['nothing', ''],
  ])('does not take %s for an answer', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });
});
