import { UpstreamHttpError } from '../upstream.errors.js';
import { isEraRefusal } from './era-refusal.js';

const UNSUPPORTED = '{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}}';
const answerTo = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"error":{"code":-1,"message":"no session"}}`;

describe(isEraRefusal.name, () => {
  it.each([
    ['an unsupported version', 400, 'Bad Request: Unsupported protocol VERSION: 1', true],
    ['the same with another status', 500, 'Unsupported protocol version', false],
    ['the code for it', 400, UNSUPPORTED, true],
    ['the code for it', 499, UNSUPPORTED, true],
    ['the code for it from a broken server', 500, UNSUPPORTED, false],
    ['the code for it with success', 399, UNSUPPORTED, false],
    ['another code', 400, '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}}', false],
    ['no code', 400, '{"jsonrpc":"2.0","id":null,"result":{}}', false],
    ['no message', 400, '[]', false],
    ['no JSON', 400, 'nonsense', false],
    ['a missing session', 400, 'No valid session', false],
    ['a missing page', 404, '', false],
  ])('of a legacy session: %s (HTTP %s)', (_, status, body, isOne) => {
    expect(isEraRefusal(new UpstreamHttpError(status, body), 7, false)).toBe(isOne);
  });

  it.each([
    ['a missing session', 400, 'No valid SESSION', true],
    ['a missing handshake', 400, 'Server not initialized', true],
    ['a missing session of no request', 400, answerTo(8), true],
    ['an answer to the request', 400, answerTo(7), false],
    ['a bad request', 400, 'bad', false],
    ['a missing page', 404, '', true],
    ['a method that is not allowed', 405, '', true],
    ['an answer to the request', 404, answerTo(7), false],
    ['a broken server', 500, 'session', false],
    ['another status', 406, '', false],
    ['a request of the server', 400, '{"jsonrpc":"2.0","id":7,"method":"session"}', true],
  ])('of a modern session: %s (HTTP %s)', (_, status, body, isOne) => {
    expect(isEraRefusal(new UpstreamHttpError(status, body), 7, true)).toBe(isOne);
  });

  it('is no other error', () => {
    expect(isEraRefusal(new Error('session'), 7, true)).toBe(false);
  });
});
