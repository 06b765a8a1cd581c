import { AppError, type JsonObject, type JsonValue } from '@app/platform';

/** Whether a server can have acted on a request that got no answer: decides if repeating it is safe. */
export type Executed = 'no' | 'unknown';

/** HTTP 401 or 403: trying again with the same credentials only makes it worse. */
export class CredentialsRefused extends AppError {
  constructor(readonly httpStatus: number) {
    super(`The server refused the credentials (HTTP ${httpStatus})`, {
      kind: 'unavailable',
      code: 'SERVER_CONNECTION_FAILED',
    });
  }
}

/** The server wants a person to consent; what was sent to it was not executed. */
export class AuthorizationNeeded extends CredentialsRefused {
  constructor(httpStatus: number, serverName: string) {
    super(httpStatus);
    const what = httpStatus === 403 ? 'consent to more than was granted' : 'consent';
    this.message = `The server wants a person to ${what}: run "switchboard authorize ${serverName}"`;
  }
}

/** The server wants OAuth, and no token came of it; the message says why, for the operator. */
export class AuthorizationFailed extends CredentialsRefused {
  constructor(httpStatus: number, reason: string) {
    super(httpStatus);
    this.message = `Authorizing failed: ${reason}`;
  }
}

/** No session came about; the message says why, for the operator. */
export class ConnectFailed extends AppError {
  constructor(
    reason: string,
    cause?: unknown,
    /** The server is there and refused the handshake itself. */
    readonly handshakeRefused = false,
  ) {
    super(`Connecting failed: ${reason}`, {
      kind: 'unavailable',
      code: 'SERVER_CONNECTION_FAILED',
      cause,
    });
  }
}

/** The server answered with a JSON-RPC error; its code and message are for the caller to see. */
export class UpstreamRpcError extends AppError {
  constructor(
    readonly rpc: { readonly code: number; readonly message: string; readonly data?: JsonValue },
  ) {
    super(rpc.message, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
      context: { upstream_code: rpc.code, upstream_message: rpc.message },
    });
  }

  static of(error: JsonObject): UpstreamRpcError {
    const { code, message, data } = error;
    return new UpstreamRpcError({
      code: typeof code === 'number' ? code : -32603,
      message: typeof message === 'string' ? message : 'unreadable error',
      ...(data !== undefined && { data }),
    });
  }
}

/** The session or its stream ended before the answer came. */
export class ConnectionLost extends AppError {
  constructor(
    readonly reason: string,
    readonly executed: Executed,
    cause?: unknown,
  ) {
    super(`The connection to the server was lost: ${reason}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      context: { outcome: executed === 'no' ? 'not executed' : 'unknown' },
      cause,
    });
  }
}

/** The server answered over HTTP with a status that carries no JSON-RPC message. */
export class UpstreamHttpError extends AppError {
  constructor(
    readonly httpStatus: number,
    readonly body: string,
  ) {
    super(`The server answered with HTTP ${httpStatus}`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
      context: { http_status: httpStatus },
    });
  }
}

export class RequestTimedOut extends AppError {
  constructor(method: string, afterMs: number) {
    super(`The server did not answer ${method} within ${afterMs / 1000} s`, {
      kind: 'timeout',
      code: 'EXECUTION_TIMEOUT',
    });
  }
}

export class AnswerTooLarge extends AppError {
  constructor(maxBytes: number) {
    super(`The server's answer is larger than ${maxBytes} bytes`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
    });
  }
}

export class RequestCancelled extends AppError {
  constructor() {
    super('The request was cancelled by its caller', {
      kind: 'unavailable',
      code: 'REQUEST_CANCELLED',
    });
  }
}

/** The server sent something that is not MCP. */
export class UpstreamProtocolError extends AppError {
  constructor(what: string) {
    super(`The server does not keep to the protocol: ${what}`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
    });
  }
}
