import { errorAnswer } from '@app/platform';
import { RpcError, UpstreamRpcError } from './rpc-error.js';

describe(RpcError.name, () => {
  it('is sent with its code and message, and with data only if it has any', () => {
    expect(new RpcError(-32_602, 'no').body).toEqual({ code: -32_602, message: 'no' });
    expect(new RpcError(1, 'no', null).body).toEqual({ code: 1, message: 'no', data: null });
    expect(new RpcError(1, 'no', { a: 1 }).body).toEqual({
      code: 1,
      message: 'no',
      data: { a: 1 },
    });
  });

  it('can be recognised in a log', () => {
    expect(String(new RpcError(1, 'no'))).toBe('RpcError: no');
  });
});

describe(UpstreamRpcError.name, () => {
  it('has the message of the server', () => {
    const error = new UpstreamRpcError({ code: -32_000, message: 'not today', data: { a: 1 } });
    expect(errorAnswer(error)).toMatchObject({
      status: 502,
      body: {
        detail: 'not today',
        context: { upstream_code: -32_000, upstream_message: 'not today' },
      },
    });
    expect(error.rpc).toEqual({ code: -32_000, message: 'not today', data: { a: 1 } });
  });

  it('includes a long message once, up to a limit', () => {
    const message = `start ${'x'.repeat(9_000_000)} end`;
    const error = new UpstreamRpcError({ code: -32_000, message });
    const { body } = errorAnswer(error);
    expect(body.detail).toHaveLength(300);
    expect(body.context?.['upstream_message']).toHaveLength(16_384);
    expect(JSON.stringify(body).length).toBeLessThan(20_000);
    expect(error.rpc.message).toBe(message);
  });

  it('keeps the data of the server out of logs', () => {
    const error = new UpstreamRpcError({ code: 1, message: 'm', data: { big: true } });
    expect(JSON.stringify(Object.entries(error))).not.toContain('big');
  });
});
