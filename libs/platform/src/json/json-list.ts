import type { Sliced } from '../work/slices.js';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Bytes per step: a fraction of a millisecond. */
const BYTES_AT_ONCE = 65_536;

/**
 * Finds the items of a list in the bytes of valid JSON, without parsing them: a list of ten megabytes takes too long to
 * be parsed at once. Ends early when `onItem` returns false.
 */
export function* jsonItems(list: Buffer, onItem: (item: Buffer) => boolean): Sliced<void> {
  let depth = 0;
  let start = list.indexOf(OPEN_BRACKET) + 1;
  let inString = false;
  let yieldAt = BYTES_AT_ONCE;
  for (let at = start; at < list.length; at++) {
    if (at >= yieldAt) {
      yieldAt = at + BYTES_AT_ONCE;
      yield;
    }
    const byte = list[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
    else if (depth > 0) {
      if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
    } else if (byte === COMMA || byte === CLOSE_BRACKET) {
      const item = list.subarray(start, at);
      if (isBlank(item) || !onItem(item)) return;
      yield;
      start = at + 1;
    }
  }
}

/** Only the list without items has nothing between its brackets. */
function isBlank(item: Buffer): boolean {
  for (const byte of item) if (byte > SPACE) return false;
  return true;
}
