/** What went wrong, in the words of the rules; the edges (HTTP, MCP) translate it exhaustively. */
export type ErrorKind =
  | 'bad-request'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'rate-limited'
  | 'unavailable'
  | 'overloaded'
  | 'timeout'
  | 'upstream'
  | 'internal';

/** One refused field, in the shape of the REST contract. */
export interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export interface ErrorDetails {
  readonly kind: ErrorKind;
  /** The `error_code` of the contract. */
  readonly code: string;
  readonly context?: Readonly<Record<string, unknown>>;
  /** The server an unavailable-error is about, beside the context as in the contract. */
  readonly server?: { readonly id: string; readonly name: string; readonly status: string };
  readonly issues?: readonly FieldIssue[];
  readonly retryAfterSeconds?: number;
  /** The WWW-Authenticate header of a refusal: how to come back with credentials. */
  readonly challenge?: string;
  readonly cause?: unknown;
}

/**
 * Base of every error thrown on purpose. Messages are shown to callers: they say what happened, to
 * which server or tool, and never hold a secret, a path, SQL or an upstream's inner detail.
 */
export abstract class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly server: ErrorDetails['server'];
  readonly issues: readonly FieldIssue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly challenge: string | undefined;

  protected constructor(message: string, details: ErrorDetails) {
    super(message, { cause: details.cause });
    this.name = new.target.name;
    this.kind = details.kind;
    this.code = details.code;
    this.context = details.context;
    this.server = details.server;
    this.issues = details.issues;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.challenge = details.challenge;
  }
}

/** Input refused by a rule; `issues` say where. */
export class InvalidInput extends AppError {
  constructor(issues: readonly FieldIssue[]) {
    super(issues.map((issue) => `${issue.loc.join('.')}: ${issue.msg}`).join('; '), {
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      issues,
    });
  }
}

export class MalformedRequest extends AppError {
  constructor(message: string) {
    super(message, { kind: 'bad-request', code: 'MALFORMED_REQUEST' });
  }
}
