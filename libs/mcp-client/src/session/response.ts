import { type Incoming, readFrame, type RpcId, UpstreamRpcError } from '@app/mcp-protocol';
import type { EchoMask } from './echo-mask.js';
import { ConnectionLost, UpstreamHttpError } from '../upstream.errors.js';
import { SessionExpired } from '../wire/wire.js';

/** The id of the request that a message responds to. */
export function answeredIn(incoming: Incoming): RpcId | null {
  if (incoming.kind === 'response') return incoming.message.id;
  return (incoming.kind === 'invalid' ? incoming.answers : undefined) ?? null;
}

/** Some servers return a numeric id as a string. */
export function ownId(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** The error for the caller when sending failed: a JSON-RPC error in the HTTP error body has priority. */
export function explained(error: unknown, echoes: EchoMask): Error {
  if (error instanceof UpstreamHttpError) {
    const frame = readFrame(Buffer.from(echoes.text(error.body)));
    const first = frame.kind === 'messages' ? frame.messages[0]?.incoming : undefined;
    if (first?.kind === 'response' && 'error' in first.message) {
      return new UpstreamRpcError(first.message.error);
    }
  }
  if (error instanceof SessionExpired) {
    return new ConnectionLost('the server forgets every session', 'no');
  }
  return error instanceof Error ? error : new ConnectionLost(String(error), 'unknown');
}
