/** `23505`: another row already has this value. */
export function isUniqueViolation(error: unknown): boolean {
  return pgCode(error) === '23505';
}

function pgCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
