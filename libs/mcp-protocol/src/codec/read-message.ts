import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import type { ReceivedResponse, RpcErrorBody, RpcNotification, RpcRequest } from './message.js';
import { idIn, type RpcId } from './message-id.js';
import { rpcCode } from './rpc-code.js';

/** A parsed JSON value, classified as a message. */
export type Incoming =
  | { readonly kind: 'request'; readonly message: RpcRequest }
  | { readonly kind: 'notification'; readonly message: RpcNotification }
  | { readonly kind: 'response'; readonly message: ReceivedResponse }
  /** `answers` is the id of the request that it would respond to, if its result were an object. */
  | { readonly kind: 'invalid'; readonly answers?: RpcId };

const INVALID: Incoming = { kind: 'invalid' };

/**
 * `strict` is for clients: a message that violates JSON-RPC, or MCP's narrower rules for ids and params, is
 * invalid. `lenient` is for servers, many of which violate them: every message that can be classified is accepted.
 */
export function readMessage(body: unknown, rules: 'strict' | 'lenient' = 'strict'): Incoming {
  if (!isJsonObject(body)) return INVALID;
  const isLenient = rules === 'lenient';
  if (!isLenient && body['jsonrpc'] !== '2.0') return INVALID;
  const id = idIn(body, 'id');
  return typeof body['method'] === 'string'
    ? readCall(body, body['method'], id, isLenient)
    : readResponse(body, id, isLenient);
}

function readCall(
  { id: givenId, params: given }: JsonObject,
  method: string,
  id: RpcId | undefined,
  isLenient: boolean,
): Incoming {
  if (!isLenient && given !== undefined && !isJsonObject(given)) return INVALID;
  const params = isJsonObject(given) ? given : undefined;
  if (id !== undefined) return { kind: 'request', message: { jsonrpc: '2.0', id, method, params } };
  if (!isLenient && givenId !== undefined) return INVALID;
  return { kind: 'notification', message: { jsonrpc: '2.0', method, params } };
}

function readResponse(body: JsonObject, id: RpcId | undefined, isLenient: boolean): Incoming {
  const { result, error } = body;
  if (isJsonObject(error) && (id !== undefined || isLenient || body['id'] === null)) {
    const read = readError(error, isLenient);
    if (!read) return INVALID;
    return { kind: 'response', message: { jsonrpc: '2.0', id: id ?? null, error: read } };
  }
  if (id === undefined || result === undefined) return INVALID;
  if (!isJsonObject(result)) return isLenient ? { kind: 'invalid', answers: id } : INVALID;
  return { kind: 'response', message: { jsonrpc: '2.0', id, result } };
}

function readError(error: JsonObject, isLenient: boolean): RpcErrorBody | undefined {
  const { code, message, data } = error;
  if (!isLenient && (typeof code !== 'number' || typeof message !== 'string')) return undefined;
  return {
    code: typeof code === 'number' ? code : rpcCode.internalError,
    message: typeof message === 'string' ? message : 'unreadable error',
    ...withData(data),
  };
}

function withData(data: JsonValue | undefined): { readonly data?: JsonValue } {
  return data === undefined ? {} : { data };
}
