import { AppError } from '../errors/app-error.js';

/** Shown at start. The URL's user and password stay out of it. */
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

function placeOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

/** Without the message: drivers put connection strings into theirs. */
function reasonOf(cause: unknown): string {
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  const codes = errors.map((error) =>
    error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason',
  );
  return [...new Set(codes)].join(', ');
}
