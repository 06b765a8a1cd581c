/** From here on, a UTF-16 code unit is a token; below it, a quarter of one. */
const FIRST_WHOLE_TOKEN = 0x2e80;

/** An estimate: four Latin characters, or one other character, are a token. */
export function tokensOf(text: string): number {
  return Math.ceil(tokenQuarters(text) / 4);
}

/** The same in quarters of a token, which can be summed. */
export function tokenQuarters(text: string): number {
  let quarters = 0;
  for (let i = 0; i < text.length; i++) quarters += quartersOfUnit(text.charCodeAt(i));
  return quarters;
}

export function quartersOfUnit(unit: number): number {
  return unit < FIRST_WHOLE_TOKEN ? 1 : 4;
}

/** A two-byte or ASCII character is one quarter, a character of four bytes two units of four. */
const LEADS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x80 || (byte >= 0xc0 && byte < 0xe3)) return 1;
  if (byte < 0xc0) return 0;
  return byte < 0xf0 ? 4 : 8;
});
const SPLIT_LEAD = 0xe2;
/** U+2E80 is E2 BA 80. */
const FIRST_WHOLE_SECOND = 0xba;

/** The quarters that the character of UTF-8 which begins at this byte counts; 0 inside a character. */
export function quartersAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (byte === SPLIT_LEAD) return (bytes[at + 1] ?? 0) < FIRST_WHOLE_SECOND ? 1 : 4;
  return LEADS[byte] ?? 0;
}

/** Whether UTF-8 text has more tokens than that by `tokensOf`. Reads no more of it than needed, and nothing if it is short. */
export function hasMoreTokens(utf8: Uint8Array, tokens: number): boolean {
  const quarters = 4 * tokens;
  // No character has more than two quarters a byte.
  if (2 * utf8.length <= quarters) return false;
  let sum = 0;
  for (let at = 0; at < utf8.length; at++) {
    sum += quartersAt(utf8, at);
    if (sum > quarters) return true;
  }
  return false;
}

/**
 * The length that all of these sizes are cut to, so that together they fit: short ones stay whole. Infinity when all
 * fit.
 */
export function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [i, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}
