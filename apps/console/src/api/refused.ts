import { texts } from '../texts/index.js';

interface ErrorBody {
  readonly detail?: unknown;
  readonly error_code?: unknown;
}

/** The service answered with an error, or did not answer (`status` 0). The message is for the user. */
export class Refused extends Error {
  readonly code: string | undefined;

  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super(sentenceOf(status, body));
    const { error_code: code } = asErrorBody(body);
    this.code = typeof code === 'string' ? code : undefined;
  }
}

function sentenceOf(status: number, body: unknown): string {
  if (status === 0) return texts.errors.noAnswer;
  const { detail } = asErrorBody(body);
  if (typeof detail === 'string' && detail !== '') return detail;
  return texts.errors.status(status);
}

function asErrorBody(body: unknown): ErrorBody {
  return typeof body === 'object' && body !== null ? body : {};
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
