/** `23505`: another row already has this value. */
export function isUniqueViolation(error: unknown): boolean {
  return pgCode(error) === '23505';
}

/** `40P01`: it was this one's turn to give way. */
export function isDeadlock(error: unknown): boolean {
  return pgCode(error) === '40P01';
}

function pgCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
