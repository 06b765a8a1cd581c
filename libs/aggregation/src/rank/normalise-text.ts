/** Limits NFKC, which expands some characters: U+FDFA becomes 18. */
const GROWTH = 2;

/** For comparison: without case, markup and repeated white space. */
export function normaliseText(text: string): string {
  return text
    .normalize('NFKC')
    .slice(0, Math.max(100, GROWTH * text.length))
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
