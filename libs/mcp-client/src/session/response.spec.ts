import type { Incoming } from '@app/mcp-protocol';
import { UpstreamHttpError } from '../upstream.errors.js';
import { SessionExpired } from '../wire/wire.js';
import { EchoMask } from './echo-mask.js';
import { answeredIn, explained, ownId } from './response.js';

describe(answeredIn.name, () => {
  it.each<[Incoming, unknown]>([
    [{ kind: 'response', message: { jsonrpc: '2.0', id: 7, result: {} } }, 7],
    [
      { kind: 'response', message: { jsonrpc: '2.0', id: 'a', error: { code: 1, message: '' } } },
      'a',
    ],
    [{ kind: 'invalid', answers: 7 }, 7],
    [{ kind: 'invalid' }, null],
    [{ kind: 'request', message: { jsonrpc: '2.0', id: 7, method: 'x' } }, null],
    [{ kind: 'notification', message: { jsonrpc: '2.0', method: 'x' } }, null],
  ])('%j: %s', (incoming, id) => {
    expect(answeredIn(incoming)).toBe(id);
  });
});

describe(ownId.name, () => {
  it.each([
    [7, 7],
    ['7', 7],
    ['123456789012345', 123_456_789_012_345],
    ['1234567890123456', undefined],
    ['x7', undefined],
    ['7x', undefined],
    ['', undefined],
    [7n, undefined],
    [['7'], undefined],
    [null, undefined],
  ])('%p is %p', (value, id) => {
    expect(ownId(value)).toBe(id);
  });
});

describe(explained.name, () => {
  const echoes = new EchoMask(['canary-7f3a9c']);

  it('prefers the error in the body, without credentials', () => {
    const body = '{"jsonrpc":"2.0","id":1,"error":{"code":-3,"message":"bad canary-7f3a9c"}}';
    expect(explained(new UpstreamHttpError(400, body), echoes)).toMatchObject({
      rpc: { code: -3, message: 'bad ********' },
    });
  });

  it.each(['', 'nonsense', '[]', '{"jsonrpc":"2.0","id":1,"result":{}}', '{"a":1}'])(
    'keeps an error whose body is %j',
    (body) => {
      const error = new UpstreamHttpError(400, body);
      expect(explained(error, echoes)).toBe(error);
    },
  );

  it('says that a session was lost again', () => {
    expect(explained(new SessionExpired(), echoes)).toMatchObject({
      reason: 'the server forgets every session',
      executed: 'no',
    });
  });

  it('keeps any other error, and leaves open what happened when there is none', () => {
    const error = new Error('x');
    expect(explained(error, echoes)).toBe(error);
    expect(explained('x', echoes)).toMatchObject({ reason: 'x', executed: 'unknown' });
  });
});
