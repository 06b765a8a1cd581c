import type { JsonValue, Sliced } from '@app/platform';

/** An answer has at most 250 pieces, so further values need not be parsed. */
const MAX_VALUES = 10_000;
/** Deeper values would overflow the stack of recursive functions. */
const MAX_DEPTH = 128;
/** Characters scanned per slice: about a millisecond. */
const CHARS_AT_ONCE = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export interface JsonPrefix {
  readonly value: JsonValue;
  /** Whether values were left out. */
  readonly isCut: boolean;
}

/**
 * Parses a JSON text, or only its first values if it has very many. Undefined if the text is not JSON or
 * nested too deeply.
 */
export function* readJsonPrefix(text: string): Sliced<JsonPrefix | undefined> {
  /** Closing brackets of the open containers, outermost first. */
  const ends: string[] = [];
  let values = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    if (i % CHARS_AT_ONCE === 0) yield;
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === BACKSLASH) i++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) {
      values++;
      if (ends.push(char === OPEN_BRACE ? '}' : ']') > MAX_DEPTH) return undefined;
    } else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) ends.pop();
    else if (char === COMMA && ++values > MAX_VALUES) {
      return parsed(text.slice(0, i) + ends.toReversed().join(''), true);
    }
  }
  yield;
  return parsed(text, false);
}

function parsed(text: string, isCut: boolean): JsonPrefix | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return { value, isCut };
  } catch {
    return undefined;
  }
}
