/** Limits on the content of a JSON text, as its size in bytes does not bound the cost of parsing and traversing it. */
export interface JsonBounds {
  /** Nesting depth of objects and lists. */
  readonly depth: number;
  /** Of all objects together: objects with many different keys are the most expensive to parse. */
  readonly keys: number;
  /** Keys included. */
  readonly strings: number;
  /** Members of objects and items of lists, all levels together. */
  readonly values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The first limit that a JSON text exceeds, or undefined. To be checked before parsing: one pass, about 1 ns per
 * character, no allocation. Invalid JSON may pass. Bytes are passed as `bytes.toString('latin1')`: only ASCII
 * characters count, and UTF-8 uses those bytes for nothing else.
 */
export function beyondBounds(text: string, bounds: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0;
  let keys = 0;
  let strings = 0;
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        if (++strings > bounds.strings) return 'strings';
        i = endOfString(text, i);
        break;
      case COLON:
        if (++keys > bounds.keys) return 'keys';
        break;
      case COMMA:
        if (++values > bounds.values) return 'values';
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (++depth > bounds.depth) return 'depth';
        if (++values > bounds.values) return 'values';
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
    }
  }
  return undefined;
}

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) break;
    if (char === BACKSLASH) i++;
  }
  return i;
}

export interface ValueBounds {
  /** Of all objects together. */
  readonly keys: number;
  /** Of one list. */
  readonly items: number;
  /** Members of objects and items of lists, all levels together. */
  readonly values: number;
}

/** The same for a parsed value. Stops at the first exceeded limit. */
export function valueBeyondBounds(
  value: object,
  bounds: ValueBounds,
): keyof ValueBounds | undefined {
  let keys = 0;
  let values = 0;
  const open: object[] = [value];
  for (let next = open.pop(); next; next = open.pop()) {
    const list: readonly unknown[] | undefined = Array.isArray(next) ? next : undefined;
    const held = list ?? Object.values(next);
    values += held.length;
    if (!list) keys += held.length;
    else if (list.length > bounds.items) return 'items';
    if (keys > bounds.keys) return 'keys';
    if (values > bounds.values) return 'values';
    for (const one of held) if (typeof one === 'object' && one !== null) open.push(one);
  }
  return undefined;
}

/** Whether the value has more than that many characters as JSON; traverses no further than needed. */
export function isLongerThan(value: object, maxChars: number): boolean {
  let chars = 0;
  const open: object[] = [value];
  for (let next = open.pop(); next; next = open.pop()) {
    const isList = Array.isArray(next);
    const members = Object.entries(next);
    chars += 2 + Math.max(0, members.length - 1);
    for (const [key, held] of members) {
      if (!isList) chars += charsOf(key, maxChars) + 1;
      if (typeof held === 'object' && held !== null) open.push(held);
      else chars += charsOf(held, maxChars);
      if (chars > maxChars) return true;
    }
  }
  return chars > maxChars;
}

function charsOf(held: unknown, enough: number): number {
  if (typeof held === 'string' && held.length > enough) return held.length;
  return JSON.stringify(held)?.length ?? 0;
}
