/** A rounded duration: `30 s` for 29,999.997 ms. */
export function inSeconds(ms: number): string {
  const digits = ms < 1_000 ? 3 : 1;
  return `${Number((ms / 1_000).toFixed(digits))} s`;
}
