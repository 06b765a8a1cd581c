import { Logger } from '@nestjs/common';
import { AppError, type ErrorKind } from '@app/platform';
import { UpstreamRpcError } from '../upstream/upstream.errors.js';
import { rpcCode, RpcError } from './rpc.js';

const logger = new Logger('mcp');

/** Any thrown value as the JSON-RPC error a client may see; what nobody foresaw is logged and stays opaque. */
export function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  // What a server refuses, it refuses in its own words.
  if (error instanceof UpstreamRpcError) {
    return new RpcError(error.rpc.code, error.rpc.message, error.rpc.data);
  }
  if (error instanceof AppError) {
    return new RpcError(codeOf(error.kind), error.message, {
      error_code: error.code,
      ...(error.server && { server: { ...error.server } }),
    });
  }
  logger.error({ err: error }, 'unexpected error');
  return new RpcError(rpcCode.internalError, 'Internal error');
}

function codeOf(kind: ErrorKind): number {
  switch (kind) {
    case 'bad-request':
    case 'invalid':
    case 'not-found':
    case 'too-large':
      return rpcCode.invalidParams;
    case 'unauthorized':
    case 'forbidden':
    case 'conflict':
    case 'rate-limited':
    case 'unavailable':
    case 'overloaded':
    case 'timeout':
    case 'upstream':
      return rpcCode.serverError;
    case 'internal':
      return rpcCode.internalError;
    default:
      return kind satisfies never;
  }
}
