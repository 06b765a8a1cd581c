import type { JsonObject, JsonValue, RawJsonObject } from '@app/platform';
import type { RpcId } from './message-id.js';

/** JSON-RPC 2.0 as MCP uses it, in both directions. */
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

/** Made by this service, or forwarded in the bytes its server wrote. */
export type RpcResult = JsonObject | RawJsonObject;

export type RpcErrorResponse = {
  readonly jsonrpc: '2.0';
  readonly id: RpcId | null;
  readonly error: RpcErrorBody;
};

export type RpcResponse =
  { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: RpcResult } | RpcErrorResponse;

/** A response that was received, and therefore parsed. */
export type ReceivedResponse =
  { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: JsonObject } | RpcErrorResponse;

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;
