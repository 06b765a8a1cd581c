import { rpcCode } from '@app/mcp-protocol';
import {
  callNotFound,
  type EndReason,
  interruption,
  refusal,
  sessionNotFound,
} from './interruption.js';

const codes: [EndReason, string][] = [
  ['The session has ended', 'SESSION_NOT_FOUND'],
  ['The service is stopping', 'SERVICE_UNAVAILABLE'],
  ['The token was withdrawn', 'UNAUTHORIZED'],
];

describe('the error of a request that was interrupted', () => {
  it.each(codes)('says that %s, and that the outcome is unknown', (reason, error_code) => {
    expect(interruption(reason, 'tools/call').body).toEqual({
      code: rpcCode.serverError,
      message: `${reason} before tools/call was answered. The call may have been carried out: do not repeat it blindly.`,
      data: { error_code, outcome: 'unknown' },
    });
    expect(interruption(reason, 'tools/list').body.message).toBe(
      `${reason} before tools/list was answered. Send it again.`,
    );
  });
});

describe('the error of a request that was not started', () => {
  it.each(codes)('says that %s, and that nothing was executed', (reason, error_code) => {
    expect(refusal(reason, 'tools/call').body).toEqual({
      code: rpcCode.serverError,
      message: `${reason}; tools/call was not executed. Send it again.`,
      data: { error_code, outcome: 'not executed' },
    });
  });
});

describe('what is gone with its replica', () => {
  it('is a session, which the client begins again', () => {
    expect(sessionNotFound).toEqual({
      code: rpcCode.sessionNotFound,
      message: 'Session not found',
      data: { error_code: 'SESSION_NOT_FOUND' },
    });
  });

  it('is a call, whose outcome the client has to check', () => {
    expect(callNotFound).toEqual({
      code: rpcCode.invalidParams,
      message: expect.stringContaining('check, then call again without requestState'),
      data: { reason: 'invalid_request_state', outcome: 'unknown' },
    });
  });
});
