import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import { JsonFault, type JsonNotes, MAX_NOTED_ITEMS, scanJson } from './json-scan.js';
import { type Changes, isKept, keepText, keptText, RawJson, writeJson } from './kept-json.js';
import { RawJsonObject } from './raw-json-object.js';

const NOTE_WORDS = 4;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** JSON text may begin with a byte order mark, which is not part of it (RFC 8259, section 8.1). */
export function withoutByteOrderMark(text: Buffer): Buffer {
  return text[0] === BYTE_ORDER_MARK[0] && text.subarray(0, 3).equals(BYTE_ORDER_MARK)
    ? text.subarray(3)
    : text;
}

/** Parses; the value and its members, down to the given depth, keep their text (see `keepText`). */
export function parseKept(text: Buffer, depth: 1 | 2 | 3): JsonValue | JsonFault {
  const notes = scanJson(text, depth);
  if (notes instanceof JsonFault) return notes;
  const value = parseScanned(text, notes);
  keepText(value, text);
  return value;
}

/**
 * The same for a text that was scanned before, down to the depth of its notes. It runs for each call, so the outermost
 * value keeps its text only if it contains an inexact number.
 */
export function parseScanned(text: Buffer, notes: JsonNotes): JsonValue {
  const value = JSON.parse(text.toString()) as JsonValue;
  if (typeof value !== 'object' || value === null) return value;
  keepMembers(value, text, notes);
  if (Object.values(value).some(isInexact)) keepText(value, text);
  return value;
}

function isInexact(value: JsonValue): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value);
}

/** Makes the members of an object with kept text keep theirs. */
export function keepTextOfMembers(object: JsonObject): void {
  const text = keptText(object);
  const notes = text && scanJson(text, 1);
  if (text && !(notes instanceof JsonFault)) keepMembers(object, text, notes ?? []);
}

/** A member as it was written, where `JSON.stringify` may write it differently. */
export function memberAsWritten(object: JsonObject, key: string): JsonValue | RawJson | undefined {
  const value = object[key];
  const text = typeof value === 'number' ? keptText(object) : undefined;
  const raw = text && RawJsonObject.read(text)?.raw(key);
  return raw ? new RawJson(raw.toString()) : value;
}

/** `{ ...object, ...changes }` with unchanged members as they were written. Undefined removes a member. */
export function changed(object: JsonObject, changes: Changes): JsonObject {
  const copy: JsonObject = { ...object };
  let isWrittenAlike = isFaithful(object);
  for (const key of Object.keys(changes)) {
    const change = changes[key];
    if (change === undefined) delete copy[key];
    else if (change instanceof RawJson) {
      copy[key] = JSON.parse(change.text) as JsonValue;
      isWrittenAlike = false;
    } else copy[key] = change;
  }
  if (isWrittenAlike) return copy;
  const text = keptText(object) ?? Buffer.from(writeJson(object));
  const written = RawJsonObject.read(text)?.with(changes);
  if (written) keepText(copy, written.bytes);
  return copy;
}

/** Whether serializing a copy gives the same text: only numbers differ, at any depth. */
function isFaithful(object: JsonObject): boolean {
  if (!isKept(object)) return true;
  return Object.values(object).every((member) =>
    typeof member === 'object' && member !== null ? isKept(member) : typeof member !== 'number',
  );
}

/**
 * From the last note to the first: a member's note follows those of its own members, and of a repeated key the last one
 * is in the parsed value.
 */
function keepMembers(root: JsonValue[] | JsonObject, text: Buffer, notes: JsonNotes): void {
  const open: (JsonValue | undefined)[] = [root, undefined, undefined, undefined, undefined];
  let item = Array.isArray(root) ? Math.min(root.length, MAX_NOTED_ITEMS) : 0;
  for (let i = notes.length - NOTE_WORDS; i >= 0; i -= NOTE_WORDS) {
    const start = notes[i + 1] ?? 0;
    const depth = notes[i + 3] ?? 0;
    if (text[start] !== OPEN_BRACE && text[start] !== OPEN_BRACKET) {
      if (notes[i] === -1) item--;
      continue;
    }
    const parent = open[depth - 1];
    const member = Array.isArray(parent)
      ? parent[--item]
      : isJsonObject(parent)
        ? parent[keyAt(text, notes[i] ?? 0)]
        : undefined;
    open[depth + 1] = undefined;
    const isFirstSeen = member !== undefined && !isKept(member);
    open[depth] = isFirstSeen ? member : undefined;
    if (isFirstSeen) keepText(member, text, start, notes[i + 2]);
  }
}

function keyAt(text: Buffer, start: number): string {
  let end = start + 1;
  for (let byte = text[end]; byte !== QUOTE; byte = text[++end]) {
    if (byte === BACKSLASH || (byte ?? 0) >= 0x80)
      return JSON.parse(stringAt(text, start)) as string;
  }
  return text.toString('latin1', start + 1, end);
}

function stringAt(text: Buffer, start: number): string {
  let end = start + 1;
  while (text[end] !== QUOTE) end += text[end] === BACKSLASH ? 2 : 1;
  return text.toString('utf8', start, end + 1);
}
