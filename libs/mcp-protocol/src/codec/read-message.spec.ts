import { rpcCode } from './rpc-code.js';
import { readMessage } from './read-message.js';

const invalid = { kind: 'invalid' };

describe(readMessage.name, () => {
  describe.each(['strict', 'lenient'] as const)('by %s rules', (rules) => {
    const read = (body: unknown): unknown => readMessage(body, rules);

    it('reads a request with and without params', () => {
      const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect(read(message)).toEqual({
        kind: 'request',
        message: { ...message, params: undefined },
      });
      const params = { cursor: 'x' };
      expect(read({ ...message, params })).toEqual({
        kind: 'request',
        message: { ...message, params },
      });
    });

    it('reads a notification: a method without an id', () => {
      const message = { jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 } };
      expect(read(message)).toEqual({ kind: 'notification', message });
    });

    it('reads a result', () => {
      const message = { jsonrpc: '2.0', id: 'a', result: { b: 1 } };
      expect(read(message)).toEqual({ kind: 'response', message });
    });

    it('reads an error, with its data if there is any', () => {
      const error = { code: 3, message: 'no' };
      const message = { jsonrpc: '2.0', id: 1, error };
      expect(read(message)).toEqual({ kind: 'response', message });
      const withData = { ...message, error: { ...error, data: [1] } };
      expect(read(withData)).toEqual({ kind: 'response', message: withData });
    });

    it('reads an error that answers no id in particular', () => {
      const message = { jsonrpc: '2.0', id: null, error: { code: 3, message: 'no' } };
      expect(read(message)).toEqual({ kind: 'response', message });
    });

    it.each([
      ['a list', [1]],
      ['a text', 'ping'],
      ['nothing', null],
      ['an object without a method, a result or an error', { jsonrpc: '2.0', id: 1 }],
      ['a result without an id', { jsonrpc: '2.0', result: {} }],
      ['a result with an id that is no id', { jsonrpc: '2.0', id: {}, result: {} }],
    ])('does not take %s for a message', (_, body) => {
      expect(read(body)).toEqual(invalid);
    });
  });

  describe.each([
    ['a message of another version', { jsonrpc: '1.0', id: 1, method: 'ping' }, 'request'],
    ['params that are no object', { jsonrpc: '2.0', id: 1, method: 'a', params: [1] }, 'request'],
    ['a method whose id is no id', { jsonrpc: '2.0', id: {}, method: 'a' }, 'notification'],
    ['an error without an id', { jsonrpc: '2.0', error: { code: 1, message: 'no' } }, 'response'],
    ['an error without a code', { jsonrpc: '2.0', id: 1, error: { message: 'no' } }, 'response'],
    ['an error without a message', { jsonrpc: '2.0', id: 1, error: { code: 1 } }, 'response'],
  ])('%s', (_, body, kind) => {
    it('is refused from a client', () => {
      expect(readMessage(body)).toEqual(invalid);
      expect(readMessage(body, 'strict')).toEqual(invalid);
    });

    it('is read from a server', () => {
      expect(readMessage(body, 'lenient')).toMatchObject({ kind });
    });
  });

  it('drops params of a server that are no object', () => {
    expect(readMessage({ id: 1, method: 'a', params: [1] }, 'lenient')).toEqual({
      kind: 'request',
      message: { jsonrpc: '2.0', id: 1, method: 'a', params: undefined },
    });
  });

  it('gives an error of a server the code and the message that it lacks', () => {
    expect(readMessage({ id: 1, error: {} }, 'lenient')).toMatchObject({
      message: { error: { code: rpcCode.internalError, message: 'unreadable error' } },
    });
    expect(readMessage({ id: 1, error: { code: 7, message: 'no' } }, 'lenient')).toMatchObject({
      message: { error: { code: 7, message: 'no' } },
    });
  });

  it('says which request of a server a result would answer that is no object', () => {
    const body = { jsonrpc: '2.0', id: 4, result: [1] };
    expect(readMessage(body, 'lenient')).toEqual({ kind: 'invalid', answers: 4 });
    expect(readMessage(body)).toEqual(invalid);
  });
});
