import { AppError } from '../../errors/app-error.js';
import type { DatabaseTrouble } from './pg-errors.js';

/** Shown at start, without user and password of the URL. */
export class DatabaseUnreachable extends AppError {
  constructor(databaseUrl: string | undefined, cause: unknown) {
    super(
      databaseUrl
        ? `The database at ${placeOf(databaseUrl)} cannot be used: ${reasonOf(cause)}. Check DATABASE_URL and that PostgreSQL is running.`
        : `The embedded database cannot be opened: ${reasonOf(cause)}. Its folder is "postgres" in MCP_AGGREGATOR_DATA_DIR.`,
      { kind: 'unavailable', code: 'DATABASE_UNREACHABLE', cause },
    );
  }
}

/** The database is unreachable or temporarily unable to serve requests. */
export class DatabaseUnavailable extends AppError {
  constructor(
    readonly trouble: DatabaseTrouble,
    cause?: unknown,
    /** A write was sent and its outcome is unknown. */
    isOutcomeUnknown = false,
  ) {
    super(
      isOutcomeUnknown
        ? `${saying[trouble]}. The change may have been made: check before you repeat it`
        : saying[trouble],
      {
        kind: 'unavailable',
        code: 'DATABASE_UNAVAILABLE',
        context: { reason: trouble, ...(isOutcomeUnknown && { outcome: 'unknown' }) },
        retryAfterSeconds: RETRY_AFTER_S[trouble],
        cause,
      },
    );
  }
}

const saying: Readonly<Record<DatabaseTrouble, string>> = {
  unreachable: 'The database of this service does not answer',
  busy: 'The database of this service has no connection or memory left',
  slow: 'The database of this service took too long and was stopped',
  full: 'The disk of the database of this service is full: nothing can be written',
  'read-only': 'The database of this service is read-only: nothing can be written',
  failing: 'The storage of the database of this service fails',
};

/** A full disk is not freed within seconds. */
const RETRY_AFTER_S: Readonly<Record<DatabaseTrouble, number>> = {
  unreachable: 5,
  busy: 5,
  slow: 5,
  full: 30,
  'read-only': 30,
  failing: 30,
};

function placeOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

/** Without the driver's message, which may contain the connection string. */
function reasonOf(cause: unknown): string {
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  const codes = errors.map((error) =>
    error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason',
  );
  return [...new Set(codes)].join(', ');
}
