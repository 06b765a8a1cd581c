/** Exponential backoff: milliseconds to wait after this many consecutive failures (at least one). */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
