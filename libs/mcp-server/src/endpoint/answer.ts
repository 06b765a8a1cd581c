import { Logger } from '@nestjs/common';
import { AppError, type ErrorKind, type Span } from '@app/platform';
import { rpcCode, RpcError, UpstreamRpcError } from '@app/mcp-protocol';

const logger = new Logger('mcp');

/** Any thrown value as the JSON-RPC error for the client; an unexpected one is logged and its message is hidden. */
export function rpcErrorOf(error: unknown, span?: Span): RpcError {
  if (error instanceof RpcError) return error;
  // An error of the server itself is passed on unchanged.
  if (error instanceof UpstreamRpcError) {
    return new RpcError(error.rpc.code, error.rpc.message, error.rpc.data);
  }
  if (error instanceof AppError) {
    if (error.kind === 'internal') logFailure(error, span);
    return new RpcError(codeOf(error.kind), error.message, {
      error_code: error.code,
      ...(error.server && { server: { ...error.server } }),
    });
  }
  logFailure(error, span);
  return new RpcError(rpcCode.internalError, 'Internal error');
}

/** The trace of an error is always recorded. */
function logFailure(err: unknown, span: Span | undefined): void {
  logger.error({ ...(span && { trace_id: span.trace.id }), err }, 'request.failed');
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
