import { readFrame, type RpcId, rpcCode } from '@app/mcp-protocol';
import { UpstreamHttpError } from '../upstream.errors.js';

/** The session was replaced by one of the other era: the request has to be translated again. */
export class EraChanged extends Error {}

/**
 * Whether a server refused a request because it speaks the other protocol era, since it was restarted. Such a request
 * was not executed. A server of 2026-07-28 names the versions that it supports; one of an earlier revision misses
 * the handshake or the session, and says so before it reads which request it is.
 */
export function isEraRefusal(error: unknown, id: RpcId, isModern: boolean): boolean {
  if (!(error instanceof UpstreamHttpError)) return false;
  const { httpStatus, body } = error;
  if (httpStatus === 400 && /unsupported protocol version/i.test(body)) return true;
  const frame = readFrame(Buffer.from(body));
  const first = frame.kind === 'messages' ? frame.messages[0]?.incoming : undefined;
  const answer = first?.kind === 'response' ? first.message : undefined;
  if (answer && 'error' in answer && answer.error.code === rpcCode.unsupportedVersion) {
    return httpStatus >= 400 && httpStatus < 500;
  }
  if (!isModern || answer?.id === id) return false;
  if (httpStatus === 400) return /session|not initialized/i.test(body);
  return httpStatus === 404 || httpStatus === 405;
}
