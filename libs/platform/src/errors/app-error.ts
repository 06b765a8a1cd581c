/** Kinds of errors in the terms of the contract; HTTP and MCP translate them exhaustively. */
export const errorKinds = [
  'bad-request',
  'invalid',
  'unauthorized',
  'forbidden',
  'not-found',
  'conflict',
  'too-large',
  'rate-limited',
  'unavailable',
  'overloaded',
  'timeout',
  'upstream',
  'internal',
] as const;
export type ErrorKind = (typeof errorKinds)[number];

/** One refused field, in the form of the REST contract. */
export interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** Of a field or query parameter that the route does not have (contract R3). */
export const UNKNOWN_FIELD = {
  msg: 'Unknown field',
  type: 'extra_forbidden',
} as const satisfies Omit<FieldIssue, 'loc'>;

export interface ErrorDetails {
  readonly kind: ErrorKind;
  /** The `error_code` of the contract. */
  readonly code: string;
  readonly context?: Readonly<Record<string, unknown>>;
  /** The unavailable server, a field beside the context as in the contract. */
  readonly server?: { readonly id: string; readonly name: string; readonly status: string };
  readonly issues?: readonly FieldIssue[];
  readonly retryAfterSeconds?: number;
  /** The WWW-Authenticate header of a refusal. */
  readonly challenge?: string;
  readonly cause?: unknown;
}

/**
 * Base of every expected error. Messages are shown to callers: they say what happened, to which server or tool, and
 * never contain a secret, a path, SQL or internal details of an upstream server.
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

/** Maximum number of reported issues: a caller could cause thousands. */
const MAX_ISSUES = 100;

/** Input refused by a rule; `issues` name the fields. */
export class InvalidInput extends AppError {
  constructor(found: readonly FieldIssue[]) {
    const issues = found.slice(0, MAX_ISSUES);
    super(issues.map((issue) => `${issue.loc.join('.')}: ${issue.msg}`).join('; '), {
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      issues,
    });
  }
}

/** A body within the byte limit whose content exceeds another limit. */
export class BodyTooComplex extends AppError {
  constructor(message: string) {
    super(message, { kind: 'too-large', code: 'PAYLOAD_TOO_LARGE' });
  }
}

export class MalformedRequest extends AppError {
  constructor(message: string) {
    super(message, { kind: 'bad-request', code: 'MALFORMED_REQUEST' });
  }
}
