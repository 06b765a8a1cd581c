import { RawJsonObject } from '@app/platform';
import type { RpcMessage } from './message.js';
import { messageBytes, messagePieces, messageText } from './write-message.js';

const answer = (result: RawJsonObject) => ({ jsonrpc: '2.0', id: 'é', result }) as const;
const together = (pieces: readonly (string | Buffer)[]): string =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString();

describe(messagePieces, () => {
  it.each([0, 10, 100_000])('writes what messageBytes writes, with %d characters', (chars) => {
    for (const change of [{}, { a: 1 }, { text: 'other' }]) {
      const result = RawJsonObject.of({ text: '…'.repeat(chars), b: [2] });
      const message = answer(result.with(change));
      expect(together(messagePieces(message))).toBe(messageBytes(message).toString());
    }
    const error = {
      jsonrpc: '2.0',
      id: 1,
      error: { code: 1, message: '…'.repeat(chars) },
    } as const;
    expect(together(messagePieces(error))).toBe(messageBytes(error));
  });

  it('does not copy a large result', () => {
    const result = RawJsonObject.of({ text: 'x'.repeat(1_000_000) });
    expect(messagePieces(answer(result))).toContain(result.bytes);
  });
});

describe(messageBytes, () => {
  it('writes a result on one line for streams', () => {
    const result = RawJsonObject.read(Buffer.from(`{\n"text":\r\n"${'x'.repeat(100_000)}"}`));
    if (!result) throw new Error('it is not JSON');
    const line = messageBytes(answer(result.with({ a: 1 })), true).toString();
    expect(line).not.toMatch(/[\r\n]/);
    expect(JSON.parse(line)).toMatchObject({ id: 'é', result: { a: 1 } });
  });
});

describe('a written message', () => {
  it.each<[string, RpcMessage]>([
    ['a request', { jsonrpc: '2.0', id: 1, method: 'a', params: { b: [1] } }],
    ['a request without params', { jsonrpc: '2.0', id: 'x', method: 'a' }],
    ['a notification', { jsonrpc: '2.0', method: 'a', params: { b: 1 } }],
    ['a result', { jsonrpc: '2.0', id: 1, result: { a: 'ü' } }],
    ['an error', { jsonrpc: '2.0', id: null, error: { code: 1, message: 'no', data: { a: 1 } } }],
  ])('holds %s and nothing else', (_, message) => {
    expect(JSON.parse(messageText(message))).toEqual(message);
    expect(JSON.parse(messageBytes(message).toString())).toEqual(message);
  });

  it('keeps all digits of an id', () => {
    const id = 9_007_199_254_740_993n;
    expect(messageText({ jsonrpc: '2.0', id, result: {} })).toBe(
      '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}',
    );
  });

  describe('with a result that is forwarded', () => {
    const written = '{ "a": 1.0,\n "ü": "\\u00fc" }';
    const result = RawJsonObject.read(Buffer.from(written));
    if (!result) throw new Error('unreadable');

    it('copies it byte for byte', () => {
      const message = { jsonrpc: '2.0', id: 'ü', result } as const;
      const whole = `{"jsonrpc":"2.0","id":"ü","result":${written}}`;
      expect(messageBytes(message).toString()).toBe(whole);
      expect(messageText(message)).toBe(whole);
    });

    it('changes only its line breaks where a message is a line', () => {
      const line = messageBytes({ jsonrpc: '2.0', id: 1, result }, true).toString();
      expect(line).not.toContain('\n');
      expect(line).toContain('"a": 1.0');
      expect(JSON.parse(line)).toEqual({ jsonrpc: '2.0', id: 1, result: { a: 1, ü: 'ü' } });
    });
  });

  it('is one line where that is asked, also from params that were kept as written', () => {
    const line = messageBytes({ jsonrpc: '2.0', method: 'a', params: { text: 'b\nc' } }, true);
    expect(line.toString()).not.toContain('\n');
    expect(JSON.parse(line.toString())).toMatchObject({ params: { text: 'b\nc' } });
  });
});
