import { AppError, type JsonValue, shortened } from '@app/platform';
import type { RpcErrorBody } from './message.js';

/** An error of this service that the client gets with this code, message and data. */
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

/** Limits on a server's error message: in the one-line detail, and in the context of a REST answer. */
const MAX_DETAIL_CHARS = 300;
const MAX_CONTEXT_CHARS = 16_384;

/** The server answered with a JSON-RPC error; its code and message are shown to the caller. */
export class UpstreamRpcError extends AppError {
  /** Unchanged, for MCP clients. */
  declare readonly rpc: RpcErrorBody;

  constructor(rpc: RpcErrorBody) {
    super(shortened(rpc.message, MAX_DETAIL_CHARS), {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
      context: {
        upstream_code: rpc.code,
        upstream_message: shortened(rpc.message, MAX_CONTEXT_CHARS),
      },
    });
    // Not enumerable: loggers write enumerable properties, and this one may be megabytes long.
    Object.defineProperty(this, 'rpc', { value: rpc, enumerable: false });
  }
}
