import { HttpException } from '@nestjs/common';
import { AppError, type ErrorKind, type FieldIssue } from './app-error.js';

/** The body of every error answer (contract R3). */
export interface ErrorBody {
  detail: string | readonly FieldIssue[];
  error_code: string;
  server?: AppError['server'];
  context?: Readonly<Record<string, unknown>>;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: ErrorBody;
  readonly retryAfterSeconds?: number | undefined;
  readonly challenge?: string | undefined;
  /** True for an unexpected error: logged with its stack, opaque to the caller. */
  readonly unexpected: boolean;
}

export function httpStatusOf(kind: ErrorKind): number {
  switch (kind) {
    case 'bad-request':
      return 400;
    case 'unauthorized':
      return 401;
    case 'forbidden':
      return 403;
    case 'not-found':
      return 404;
    case 'conflict':
      return 409;
    case 'too-large':
      return 413;
    case 'invalid':
      return 422;
    case 'rate-limited':
      return 429;
    case 'internal':
      return 500;
    case 'upstream':
      return 502;
    case 'unavailable':
    case 'overloaded':
      return 503;
    case 'timeout':
      return 504;
    default:
      return kind satisfies never;
  }
}

/** Maps any thrown value to the response that the caller may see. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof AppError) {
    return {
      status: httpStatusOf(error.kind),
      body: {
        detail: error.issues ?? error.message,
        error_code: error.code,
        ...(error.server && { server: error.server }),
        ...(error.context && { context: error.context }),
      },
      retryAfterSeconds: error.retryAfterSeconds,
      challenge: error.challenge,
      unexpected: error.kind === 'internal',
    };
  }
  return frameworkAnswer(statusOf(error));
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  // Fastify's own errors (body too large, broken JSON, bad URL) carry their status.
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode;
  }
  return 500;
}

const frameworkAnswers: Readonly<Record<number, ErrorBody>> = {
  404: { detail: 'There is no such route; the API is described at /docs', error_code: 'NOT_FOUND' },
  413: {
    detail: 'The request body is larger than this service accepts',
    error_code: 'PAYLOAD_TOO_LARGE',
  },
  415: { detail: 'Send the body as application/json', error_code: 'MALFORMED_REQUEST' },
};

function frameworkAnswer(status: number): ErrorAnswer {
  const known = frameworkAnswers[status];
  if (known) {
    // The contract has no 415: an unreadable body is 400.
    return { status: status === 415 ? 400 : status, body: known, unexpected: false };
  }
  if (status >= 400 && status < 500) {
    return {
      status: 400,
      body: { detail: 'The request could not be read', error_code: 'MALFORMED_REQUEST' },
      unexpected: false,
    };
  }
  return {
    status: 500,
    body: {
      detail:
        'Something went wrong inside this service; its log has the reason under this request id',
      error_code: 'INTERNAL_ERROR',
    },
    unexpected: true,
  };
}
