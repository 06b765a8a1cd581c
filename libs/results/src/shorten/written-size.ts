import { quartersOfUnit } from '@app/platform';

/**
 * How a text will be written: as it is, inside a JSON string, or inside a JSON string of a JSON text that is itself in
 * a JSON string.
 */
export type Nesting = 0 | 1 | 2;

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const SPACE = 0x20;

/** Quarters of a token of each ASCII character, escapes included. */
const ASCII: Readonly<Record<Nesting, Uint8Array>> = {
  0: new Uint8Array(128).fill(1),
  1: Uint8Array.from({ length: 128 }, (_, code) => escaped(code, 2, 2, 6)),
  2: Uint8Array.from({ length: 128 }, (_, code) => escaped(code, 4, 3, 7)),
};

function escaped(code: number, syntax: number, short: number, long: number): number {
  if (code === QUOTE || code === BACKSLASH) return syntax;
  if (code >= SPACE) return 1;
  const hasShortEscape = code >= 8 && code <= 13 && code !== 11;
  return hasShortEscape ? short : long;
}

/** Quarters of a token that a UTF-16 code unit takes when it is written. */
export function unitSize(unit: number, nesting: Nesting): number {
  return unit < 128 ? (ASCII[nesting][unit] ?? 1) : quartersOfUnit(unit);
}

export function writtenSize(text: string, nesting: Nesting): number {
  let size = 0;
  for (let i = 0; i < text.length; i++) size += unitSize(text.charCodeAt(i), nesting);
  return size;
}
