import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  onOneLine,
  WrittenObject,
} from '@app/platform';

/** JSON-RPC 2.0 as MCP uses it. */
export type RpcId = string | number;

export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RpcId;
  readonly method: string;
  readonly params?: JsonObject | undefined;
}

export interface RpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject | undefined;
}

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/** What a request came to: made here, or passed on as its server wrote it. */
export type RpcResult = JsonObject | WrittenObject;

export type RpcResponse =
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: RpcResult }
  | { readonly jsonrpc: '2.0'; readonly id: RpcId | null; readonly error: RpcErrorBody };

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export const rpcCode = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** First of the codes that are free for servers: the request was fine, serving it failed. */
  serverError: -32_000,
  sessionNotFound: -32_001,
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const;

/** An error that goes to the other side as it stands. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: JsonValue,
  ) {
    super(message);
    this.name = 'RpcError';
  }

  get body(): RpcErrorBody {
    return {
      code: this.code,
      message: this.message,
      ...(this.data !== undefined && { data: this.data }),
    };
  }
}

export type Incoming =
  | { readonly kind: 'request'; readonly message: RpcRequest }
  | { readonly kind: 'notification'; readonly message: RpcNotification }
  | { readonly kind: 'response'; readonly message: ReceivedResponse }
  | { readonly kind: 'invalid' };

/** A message as it goes out, on one line where that is asked for. */
export function bytesOf(message: RpcMessage, onLine = false): string | Buffer {
  if (!('result' in message) || !(message.result instanceof WrittenObject)) {
    return JSON.stringify(message);
  }
  const result = onLine ? onOneLine(message.result.bytes) : message.result.bytes;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":`;
  const headBytes = Buffer.byteLength(head);
  const bytes = Buffer.allocUnsafe(headBytes + result.length + 1);
  bytes.write(head, 0);
  result.copy(bytes, headBytes);
  bytes[bytes.length - 1] = CLOSE_BRACE;
  return bytes;
}
const CLOSE_BRACE = 0x7d;

/** What a client or server sent, as opposed to what is sent to it: everything in it is parsed. */
export type ReceivedResponse =
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: JsonObject }
  | Extract<RpcResponse, { error: RpcErrorBody }>;

/** What a parsed body is, by JSON-RPC's rules and MCP's narrower ids and params. */
export function readMessage(body: unknown): Incoming {
  if (!isJsonObject(body) || body['jsonrpc'] !== '2.0') return { kind: 'invalid' };
  const { id, method, params, result, error } = body;
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    if (params !== undefined && !isJsonObject(params)) return { kind: 'invalid' };
    if (hasId) return { kind: 'request', message: { jsonrpc: '2.0', id, method, params } };
    if (id !== undefined) return { kind: 'invalid' };
    return { kind: 'notification', message: { jsonrpc: '2.0', method, params } };
  }
  if (hasId && isJsonObject(result)) {
    return { kind: 'response', message: { jsonrpc: '2.0', id, result } };
  }
  if ((hasId || id === null) && isJsonObject(error)) {
    const { code, message, data } = error;
    if (typeof code !== 'number' || typeof message !== 'string') return { kind: 'invalid' };
    return {
      kind: 'response',
      message: {
        jsonrpc: '2.0',
        id,
        error: { code, message, ...(data !== undefined && { data }) },
      },
    };
  }
  return { kind: 'invalid' };
}
