import { quartersAt, type Sliced } from '@app/platform';

/** A page is as large as the budget, so that a client that cannot take more gets no more at once. */
const MIN_PAGE_TOKENS = 2_000;
const MAX_PAGE_TOKENS = 16_000;

export function pageTokens(budgetTokens: number): number {
  return Math.min(MAX_PAGE_TOKENS, Math.max(MIN_PAGE_TOKENS, budgetTokens));
}

/** Parts of at most that many tokens, cut between characters. Together they are the text, byte for byte. */
export function* pagesOf(utf8: Buffer, tokens: number): Sliced<Buffer[]> {
  const pages: Buffer[] = [];
  let start = 0;
  let size = 0;
  for (let at = 0; at < utf8.length; at++) {
    const added = quartersAt(utf8, at);
    if (size + added > 4 * tokens) {
      pages.push(utf8.subarray(start, at));
      start = at;
      size = 0;
      yield;
    }
    size += added;
  }
  pages.push(utf8.subarray(start));
  return pages;
}
