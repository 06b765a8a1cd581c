import { texts } from '../texts/index.js';

interface ErrorBody {
  readonly detail?: unknown;
  readonly error_code?: unknown;
}

/** One field of a request that the service refused. */
export interface FieldIssue {
  /** Joined by dots, without `body`: `connection_config.headers.X-Key`. */
  readonly path: string;
  readonly message: string;
}

/** The service answered with an error, or did not answer (`status` 0). The message is for the user. */
export class Refused extends Error {
  readonly code: string | undefined;
  readonly issues: readonly FieldIssue[];

  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    const { error_code: code, detail } = asErrorBody(body);
    const issues = issuesIn(detail);
    super(sentenceOf(status, detail, issues));
    this.code = typeof code === 'string' ? code : undefined;
    this.issues = issues;
  }
}

function sentenceOf(status: number, detail: unknown, issues: readonly FieldIssue[]): string {
  if (status === 0) return texts.errors.noAnswer;
  if (typeof detail === 'string' && detail !== '') return detail;
  if (issues.length === 0) return texts.errors.status(status);
  return issues
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('. ');
}

/** `[{ loc: ['body', 'name'], msg: 'Must not be empty' }]` of an answer 422. */
function issuesIn(detail: unknown): FieldIssue[] {
  if (!Array.isArray(detail)) return [];
  return detail.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { loc, msg } = entry as { loc?: unknown; msg?: unknown };
    if (typeof msg !== 'string') return [];
    const path = Array.isArray(loc) ? loc.filter((part, at) => at > 0 || part !== 'body') : [];
    return [{ path: path.join('.'), message: msg }];
  });
}

function asErrorBody(body: unknown): ErrorBody {
  return typeof body === 'object' && body !== null ? body : {};
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
