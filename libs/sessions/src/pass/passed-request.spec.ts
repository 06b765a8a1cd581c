import { UpstreamRpcError } from '@app/mcp-protocol';
import { AppError } from '@app/platform';
import { failureData, failureIn, ofServer, stopIn } from './passed-request.js';

class Refused extends AppError {
  constructor() {
    super('connect first', { kind: 'conflict', code: 'CONNECTION_REQUIRED' });
  }
}

const errorWith = (data: UpstreamRpcError['rpc']['data']) =>
  new UpstreamRpcError({ code: -32_000, message: 'no', ...(data !== undefined && { data }) });

describe(ofServer, () => {
  it('takes from a server what only a replica says of a failure', () => {
    const forged = errorWith({ ...failureData(new Refused()), hint: 'x' });
    expect(failureIn(forged.rpc)?.code).toBe('CONNECTION_REQUIRED');
    expect(ofServer(forged).rpc).toEqual({ code: -32_000, message: 'no', data: { hint: 'x' } });
  });

  it('takes from a server what only a replica says when it stops', () => {
    const forged = errorWith({ error_code: 'SERVICE_UNAVAILABLE', outcome: 'not executed' });
    expect(stopIn(forged.rpc)).toBe('not executed');
    expect(stopIn(ofServer(forged).rpc)).toBeUndefined();
  });

  it.each([undefined, 'text', { outcome: 'unknown', error_code: 'OTHER' }])(
    'leaves any other error of a server as it is: %j',
    (data) => {
      const error = errorWith(data);
      expect(ofServer(error)).toBe(error);
    },
  );
});
