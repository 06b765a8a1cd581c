import { AppError } from '@app/platform';

export class InvalidQuery extends AppError {
  constructor(
    readonly field: string,
    readonly reason: string,
    type = 'value_error',
  ) {
    super(`${field}: ${reason}`, {
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      issues: [{ loc: ['body', field], msg: reason, type }],
    });
  }
}

export class AllServersFailed extends AppError {
  /** `errors` read "server: reason". */
  constructor(
    readonly attemptedServers: readonly string[],
    readonly errors: readonly string[],
  ) {
    super('Aggregation failed: all servers unavailable', {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      context: { attempted_servers: attemptedServers, errors },
    });
  }
}

/** Shown in the explanation only: the query continues with the plain choice of tools. */
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
