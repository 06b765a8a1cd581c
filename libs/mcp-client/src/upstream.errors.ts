import { AppError, type Excess, inSeconds } from '@app/platform';

/** Whether a server can have executed a request that got no answer: decides if repeating it is safe. */
export type Executed = 'no' | 'unknown';

/** HTTP 401 or 403: a retry with the same credentials cannot succeed. */
export class CredentialsRefused extends AppError {
  /** Other credentials are wanted; else the server may refuse what was asked for, or a proxy the request. */
  readonly wantsOthers: boolean;

  /** `challenge`: the `WWW-Authenticate` header. */
  constructor(
    readonly httpStatus: number,
    challenge?: string,
  ) {
    super(`The server refused the credentials (HTTP ${httpStatus})`, {
      kind: 'upstream',
      code: 'SERVER_CONNECTION_FAILED',
    });
    this.wantsOthers = httpStatus === 401 || challenge !== undefined;
  }
}

/** The server requires the consent of a person; the request was not executed. */
export class AuthorizationNeeded extends CredentialsRefused {
  constructor(httpStatus: number, serverName: string) {
    super(httpStatus, '');
    const what = httpStatus === 403 ? 'consent to more than was granted' : 'consent';
    this.message = `The server wants a person to ${what}: run "switchboard authorize ${serverName}"`;
  }
}

/** The server requires OAuth, and no token could be obtained; the message gives the operator the reason. */
export class AuthorizationFailed extends CredentialsRefused {
  constructor(httpStatus: number, reason: string) {
    super(httpStatus, '');
    this.message = `Authorizing failed: ${reason}`;
  }
}

/** No session could be opened; the message gives the operator the reason. */
export class ConnectFailed extends AppError {
  constructor(
    reason: string,
    cause?: unknown,
    /** The server was reached and refused the handshake itself. */
    readonly handshakeRefused = false,
  ) {
    super(`Connecting failed: ${reason}`, {
      kind: 'upstream',
      code: 'SERVER_CONNECTION_FAILED',
      cause,
    });
  }
}

/** The server is this service, or leads back to it; a retry cannot succeed. */
export class LoopRefused extends AppError {
  constructor(reason: string) {
    super(`Connecting failed: ${reason}`, {
      kind: 'upstream',
      code: 'SERVER_CONNECTION_FAILED',
    });
  }
}
/** The session or its stream ended before the answer came. */
export class ConnectionLost extends AppError {
  constructor(
    readonly reason: string,
    readonly executed: Executed,
    cause?: unknown,
    /** How long the request waited for a new session, which did not open. */
    readonly waitedMs = 0,
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
    advice?: string,
  ) {
    super(`The server answered with HTTP ${httpStatus}${advice ? `: ${advice}` : ''}`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
      context: { http_status: httpStatus },
    });
  }
}

export class RequestTimedOut extends AppError {
  constructor(
    method: string,
    afterMs: number,
    readonly executed: Executed = 'unknown',
  ) {
    super(`The server did not answer ${method} within ${inSeconds(afterMs)}`, {
      kind: 'timeout',
      code: 'EXECUTION_TIMEOUT',
    });
  }
}

export class AnswerTooLarge extends AppError {
  constructor(maxBytes: number) {
    super(
      `The server's answer is larger than ${maxBytes} bytes (MCP_AGGREGATOR_MAX_ANSWER_BYTES)`,
      { kind: 'upstream', code: 'EXECUTION_FAILED' },
    );
  }
}

/** Large answers in flight exceed the byte budget of this server or of all servers. */
export class NoRoomForAnswer extends AppError {
  constructor() {
    super(
      'The answers that arrive at the same time are larger together than allowed (MCP_AGGREGATOR_MAX_RECEIVING_BYTES)',
      { kind: 'upstream', code: 'EXECUTION_FAILED' },
    );
  }
}

/** The lists of servers exceed their limit in memory. */
export class ListTooLarge extends AppError {
  constructor(method: string, what: 'the lists of this server' | 'the lists of all servers') {
    super(`With ${method}, ${what} are larger than allowed (MCP_AGGREGATOR_MAX_LIST_BYTES)`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
    });
  }
}

export function tooMuch(excess: Excess, maxBytes: number): AppError {
  return excess === 'message' ? new AnswerTooLarge(maxBytes) : new NoRoomForAnswer();
}

export class RequestCancelled extends AppError {
  constructor() {
    super('The request was cancelled by its caller', {
      kind: 'unavailable',
      code: 'REQUEST_CANCELLED',
    });
  }
}

/** The server is busy with another client, on a stream that cannot tell their calls apart. */
export class ServerBusyWithOthers extends AppError {
  constructor(afterMs: number) {
    super(
      `The server asks its callers questions and cannot tell them apart, so it serves one client at a time; the calls of another client did not end within ${inSeconds(afterMs)}`,
      { kind: 'overloaded', code: 'OVERLOADED', context: { outcome: 'not executed' } },
    );
  }
}

/** The server sent a message that violates MCP. */
export class UpstreamProtocolError extends AppError {
  constructor(readonly what: string) {
    super(`The server does not keep to the protocol: ${what}`, {
      kind: 'upstream',
      code: 'EXECUTION_FAILED',
    });
  }
}
