import { AppError, type JsonObject } from '@app/platform';

/** What a client of the MCP endpoint is told, to the letter of the tool's contract. */
export interface RpcBody {
  readonly code: number;
  readonly message: string;
  readonly data: JsonObject;
}

const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

export class InvalidQuestion extends AppError {
  readonly rpc: RpcBody;

  constructor(field: string, reason: string) {
    super(`${field}: ${reason}`, {
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      issues: [{ loc: ['body', field], msg: reason, type: 'value_error' }],
    });
    this.rpc = {
      code: INVALID_PARAMS,
      message: 'Invalid query parameters',
      data: { field, reason },
    };
  }
}

export class AllServersFailed extends AppError {
  readonly rpc: RpcBody;

  /** `errors` read "server: reason". */
  constructor(attemptedServers: readonly string[], errors: readonly string[]) {
    const message = 'Aggregation failed: all servers unavailable';
    super(message, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      context: { attempted_servers: attemptedServers, errors },
    });
    this.rpc = {
      code: INTERNAL_ERROR,
      message,
      data: { attemptedServers: [...attemptedServers], errors: [...errors] },
    };
  }
}

/** Said in the explanation only: the query goes on without it. */
export class LookUpFailed extends AppError {
  constructor(reason: string) {
    super(reason, { kind: 'upstream', code: 'LOOK_UP_FAILED' });
  }
}

export class QueriedServerNotFound extends AppError {
  constructor(name: string) {
    super(`Server not found: ${name.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'SERVER_NOT_FOUND',
    });
  }
}

export class UnreadableQuerySettings extends AppError {
  constructor(file: string, problem: string) {
    super(`The section "aggregation" of ${file} cannot be used: ${problem}`, {
      kind: 'bad-request',
      code: 'SERVERS_FILE_UNREADABLE',
    });
  }
}
