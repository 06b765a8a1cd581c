import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

const KEPT = Symbol('the text it was parsed from');

class Kept {
  constructor(
    readonly text: Buffer,
    readonly start: number,
    readonly end: number,
  ) {}
}

/** A JSON value as text, for numbers that JavaScript would format differently. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** A value to serialize: parsed values, some of them kept as text. */
export type Changes = Readonly<Record<string, JsonValue | RawJson | undefined>>;

/**
 * Attaches to an object or array the text that it was parsed from. `writeJson` writes that text instead of the value,
 * so what is parsed only for inspection is forwarded unchanged: digits of numbers, order and repetition of keys. A copy
 * (`{ ...params }`) has no text, its members keep theirs. Parsed values must not be modified in place.
 */
export function keepText(value: JsonValue, text: Buffer, start = 0, end = text.length): void {
  if (typeof value !== 'object' || value === null || isKept(value)) return;
  Object.defineProperty(value, KEPT, { value: new Kept(text, start, end) });
}

export function isKept(value: JsonValue | undefined): boolean {
  return keptIn(value) !== undefined;
}

/** The bytes that a value was parsed from, if it keeps them. */
export function keptText(value: JsonValue | undefined): Buffer | undefined {
  const kept = keptIn(value);
  return kept?.text.subarray(kept.start, kept.end);
}

/** Depth of the members that are searched for kept text. */
const SEARCHED = 4;

/** `JSON.stringify` that writes kept text unchanged. */
export function writeJson(value: JsonValue | RawJson | Changes, searched = SEARCHED): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  const kept = keptIn(value);
  if (kept) return kept.text.toString('utf8', kept.start, kept.end);
  if (searched === 0 || !isMembers(value)) return JSON.stringify(value);
  let text = '';
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${writeJson(member, searched - 1)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** The same on one line, for STDIO and event streams: JSON has line breaks only where white space is allowed. */
export function jsonLine(text: string): string {
  return /[\n\r]/.test(text) ? text.replace(/[\n\r]/g, ' ') : text;
}

function isMembers(value: JsonValue[] | JsonObject | Changes): value is Changes {
  return isJsonObject(value);
}

function keptIn(value: unknown): Kept | undefined {
  return typeof value === 'object' && value !== null
    ? (value as { [KEPT]?: Kept })[KEPT]
    : undefined;
}
