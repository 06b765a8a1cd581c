import { Logger } from '@nestjs/common';
import { rpcCode, RpcError, UpstreamRpcError } from '@app/mcp-protocol';
import { AppError, type ErrorDetails, type ErrorKind } from '@app/platform';
import { rpcErrorOf } from './answer.js';

class Failure extends AppError {
  constructor(message: string, details: ErrorDetails) {
    super(message, details);
  }
}

describe(rpcErrorOf, () => {
  let logged: unknown[];
  beforeEach(() => {
    logged = [];
    Logger.overrideLogger({
      log: () => undefined,
      warn: () => undefined,
      error: (...said: unknown[]) => logged.push(said),
    });
  });

  it('passes on an error of the protocol, and that of a server', () => {
    const error = new RpcError(-32_001, 'no', { a: 1 });
    expect(rpcErrorOf(error)).toBe(error);
    const rpc = { code: -32_050, message: 'not today', data: { until: 'tomorrow' } };
    expect(rpcErrorOf(new UpstreamRpcError(rpc)).body).toEqual(rpc);
    expect(logged).toEqual([]);
  });

  it.each<[ErrorKind, number]>([
    ['bad-request', rpcCode.invalidParams],
    ['invalid', rpcCode.invalidParams],
    ['not-found', rpcCode.invalidParams],
    ['too-large', rpcCode.invalidParams],
    ['unauthorized', rpcCode.serverError],
    ['forbidden', rpcCode.serverError],
    ['conflict', rpcCode.serverError],
    ['rate-limited', rpcCode.serverError],
    ['unavailable', rpcCode.serverError],
    ['overloaded', rpcCode.serverError],
    ['timeout', rpcCode.serverError],
    ['upstream', rpcCode.serverError],
  ])('has a code for what is %s, and logs nothing', (kind, code) => {
    const error = rpcErrorOf(new Failure('what happened', { kind, code: 'A_CODE' }));
    expect(error.body).toEqual({ code, message: 'what happened', data: { error_code: 'A_CODE' } });
    expect(logged).toEqual([]);
  });

  it('names the server', () => {
    const server = { id: '1', name: 'a', status: 'ERROR' };
    const error = new Failure('gone', { kind: 'unavailable', code: 'A_CODE', server });
    expect(rpcErrorOf(error).data).toEqual({ error_code: 'A_CODE', server });
  });

  it('logs a fault of the service, once', () => {
    const fault = new Failure('routing failed', { kind: 'internal', code: 'ROUTING_FAILED' });
    expect(rpcErrorOf(fault)).toMatchObject({
      code: rpcCode.internalError,
      message: 'routing failed',
    });
    expect(logged).toEqual([[{ err: fault }, 'request.failed', 'mcp']]);
  });

  it('hides and logs what was not expected', () => {
    const error = new TypeError('x is undefined');
    expect(rpcErrorOf(error).body).toEqual({
      code: rpcCode.internalError,
      message: 'Internal error',
    });
    expect(logged).toEqual([[{ err: error }, 'request.failed', 'mcp']]);
  });
});
