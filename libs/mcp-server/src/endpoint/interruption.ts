import { RETRY_AFTER_S } from '@app/platform';
import { rpcCode, RpcError, type RpcErrorBody, type RpcId } from '@app/mcp-protocol';
import type { ClientResponse } from './client-response.js';

export type EndReason =
  | 'The session has ended'
  | 'An administrator ended the session'
  | 'The service is stopping'
  | 'The token was withdrawn'
  | 'The access was withdrawn';

const CODES = {
  'The session has ended': 'SESSION_NOT_FOUND',
  'An administrator ended the session': 'SESSION_NOT_FOUND',
  'The service is stopping': 'SERVICE_UNAVAILABLE',
  'The token was withdrawn': 'UNAUTHORIZED',
  'The access was withdrawn': 'FORBIDDEN',
} as const satisfies Record<EndReason, string>;

/** The error of a request in flight when its session or the service ended (contract R46). */
export function interruption(reason: EndReason, method: string): RpcError {
  const advice =
    method === 'tools/call'
      ? 'The call may have been carried out: do not repeat it blindly.'
      : 'Send it again.';
  return ended(reason, `${reason} before ${method} was answered. ${advice}`, 'unknown');
}

/** The error of a request that came too late to start. */
export function refusal(reason: EndReason, method: string): RpcError {
  return ended(reason, `${reason}; ${method} was not executed. Send it again.`, 'not executed');
}

/** Refuses a request while the service stops. */
export function refuseToBegin(response: ClientResponse, id: RpcId | null = null): void {
  const { body } = refusal('The service is stopping', 'the request');
  const headers = ['retry-after', String(RETRY_AFTER_S), 'connection', 'close'];
  response.refuse(503, body, id, headers);
}

/** The body of the 404 that makes clients begin a new session. */
export const sessionNotFound: RpcErrorBody = {
  code: rpcCode.sessionNotFound,
  message: 'Session not found',
  data: { error_code: 'SESSION_NOT_FOUND' },
};

/** To an answer for a call that waited at a replica which is gone; the call had been sent to its server. */
export const callNotFound: RpcErrorBody = {
  code: rpcCode.invalidParams,
  message:
    'The replica at which this call waited for input is gone, and the call with it. It may have been carried out in part: check, then call again without requestState.',
  data: { reason: 'invalid_request_state', outcome: 'unknown' },
};

export function refuseUnknownSession(response: ClientResponse): void {
  response.refuse(404, sessionNotFound);
}

function ended(reason: EndReason, message: string, outcome: string): RpcError {
  return new RpcError(rpcCode.serverError, message, { error_code: CODES[reason], outcome });
}
