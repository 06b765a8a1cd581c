/** Such as `ENOENT`. Not by `instanceof`: under Jest, Node's errors come from another realm. */
export function errorCode(error: unknown): string | undefined {
  const has = typeof error === 'object' && error !== null && 'code' in error;
  return has && typeof error.code === 'string' ? error.code : undefined;
}
