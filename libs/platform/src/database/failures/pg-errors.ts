import { types } from 'node:util';
import { QueryFailedError } from 'typeorm';

/** Why the database could not execute a valid statement. */
export type DatabaseTrouble = 'unreachable' | 'busy' | 'slow' | 'full' | 'read-only' | 'failing';

/** `23505` unique_violation. */
export function isUniqueViolation(error: unknown): boolean {
  return pgCode(error) === '23505';
}

/** `23503` foreign_key_violation. */
export function isForeignKeyViolation(error: unknown): boolean {
  return pgCode(error) === '23503';
}

/** `40P01` deadlock_detected. */
export function isDeadlock(error: unknown): boolean {
  return pgCode(error) === '40P01';
}

/** Undefined when PostgreSQL rejected the statement, or the cause is a defect of this service. */
export function troubleOf(error: unknown): DatabaseTrouble | undefined {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const code = pgCode(cause);
  if (typeof code === 'string' && isSqlState(code)) return troubleOfState(code);
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (code === 'EROFS') return 'read-only';
  if (isFaultOfOurs(cause)) return undefined;
  // No response from PostgreSQL: socket errors, pool timeouts, broken connections.
  return types.isNativeError(cause) ? 'unreachable' : undefined;
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
function troubleOfState(code: string): DatabaseTrouble | undefined {
  switch (code) {
    case '53100':
      return 'full';
    case '25006':
      return 'read-only';
    case '57014': // statement_timeout
    case '55P03': // lock_timeout
    case '25P03': // idle_in_transaction_session_timeout
    case '25P04': // transaction_timeout
      return 'slow';
    case '3D000': // the database was dropped
    case '57P01':
    case '57P02':
    case '57P03':
    case '57P04':
    case '57P05':
      return 'unreachable';
  }
  switch (code.slice(0, 2)) {
    case '08': // connection exception
    case '28': // the password was changed
      return 'unreachable';
    case '53': // out of connections or memory
      return 'busy';
    case '58': // I/O error, a file is missing
      return 'failing';
    default:
      return undefined;
  }
}

/** Error codes of Node such as EPIPE have five characters too, but no SQLSTATE class begins with E. */
function isSqlState(code: string): boolean {
  return /^[0-9FHPX][0-9A-Z]{4}$/.test(code);
}

function isFaultOfOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

function pgCode(error: unknown): unknown {
  return types.isNativeError(error) && 'code' in error ? error.code : undefined;
}
