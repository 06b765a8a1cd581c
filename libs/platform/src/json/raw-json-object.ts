import type { JsonObject, JsonValue } from './json.js';
import { type Changes, keepText, writeJson } from './kept-json.js';
import { firstNotes, JsonFault, type JsonNotes, scanJson } from './json-scan.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const LOWER_U = 0x75;
const NOTE_WORDS = 4;
/** Searching a million members for a name would block the event loop; no result of MCP has a hundred. */
const MAX_KNOWN_MEMBERS = 1_000;
/** From this size on, a rewritten object is not copied: copying ten megabytes takes ten milliseconds. */
const MIN_PIECED_BYTES = 65_536;

/**
 * A JSON object kept as received bytes and forwarded unchanged: numbers keep their digits, keys their order and
 * repetitions, and a large one is neither parsed nor serialized. It is validated as JSON, and the positions of its
 * outermost members are indexed. Of a repeated key the last value counts, as with `JSON.parse`. Members after the first
 * 1,000 are forwarded without being indexed.
 */
export class RawJsonObject {
  private constructor(
    /** Together the text, without surrounding white space; several only after a change to a large object. */
    private parts: readonly [Buffer, ...Buffer[]],
    /** Computed on first use. Positions refer to the text that `bytes` were cut from. */
    private notes: JsonNotes | undefined,
    private readonly from: number,
  ) {}

  /** The text in one buffer; copied on first use if there are several pieces. */
  get bytes(): Buffer {
    if (this.parts.length > 1) this.parts = [Buffer.concat(this.parts)];
    return this.parts[0];
  }

  /** The text in pieces, to be sent without copying it. */
  get pieces(): readonly Buffer[] {
    return this.parts;
  }

  /** Undefined for invalid JSON and for other values. */
  static read(text: Buffer): RawJsonObject | undefined {
    const notes = scanJson(text, 1);
    return notes instanceof JsonFault
      ? undefined
      : RawJsonObject.among(text, notes, 0, text.length);
  }

  static of(object: JsonObject): RawJsonObject {
    return new RawJsonObject([Buffer.from(writeJson(object))], undefined, 0);
  }

  /** The object at that position of a scanned text; `notes`, if given, are those of its members alone. */
  static among(
    text: Buffer,
    notes: JsonNotes | undefined,
    start: number,
    end: number,
  ): RawJsonObject | undefined {
    let first = start;
    while (isSpace(text[first])) first++;
    if (text[first] !== OPEN_BRACE) return undefined;
    let last = end;
    while (isSpace(text[last - 1])) last--;
    return notes
      ? new RawJsonObject([text.subarray(first, last)], knownOf(notes), first)
      : new RawJsonObject([text.subarray(first, last)], undefined, 0);
  }

  /** Keys in order, with repetitions. */
  get keys(): readonly string[] {
    const keys: string[] = [];
    const { members, bytes, from } = this;
    for (let i = 0; i < members.length; i += NOTE_WORDS) {
      const start = keyStart(members, i) - from;
      keys.push(JSON.parse(bytes.toString('utf8', start, stringEnd(bytes, start))) as string);
    }
    return keys;
  }

  has(key: string): boolean {
    return this.find(key) >= 0;
  }

  /** The bytes of one value. */
  raw(key: string): Buffer | undefined {
    const at = this.find(key);
    if (at < 0) return undefined;
    return this.bytes.subarray(
      valueStart(this.members, at) - this.from,
      valueEnd(this.members, at) - this.from,
    );
  }

  /** One value, parsed; it keeps its text (see `keepText`). */
  get(key: string): JsonValue | undefined {
    const raw = this.raw(key);
    if (!raw) return undefined;
    const value = JSON.parse(raw.toString()) as JsonValue;
    keepText(value, raw);
    return value;
  }

  /** The whole object, parsed. */
  toObject(): JsonObject {
    return JSON.parse(this.bytes.toString()) as JsonObject;
  }

  without(key: string): RawJsonObject {
    return this.has(key) ? this.rewritten([key], '') : this;
  }

  /** A copy with these members: existing names are replaced, new ones appended, undefined ones removed. */
  with(changes: Changes): RawJsonObject {
    return this.rewritten(Object.keys(changes), writeJson(changes).slice(1, -1));
  }

  private get members(): JsonNotes {
    if (this.notes) return this.notes;
    return (this.notes = knownOf(firstNotes(this.bytes, MAX_KNOWN_MEMBERS)));
  }

  /** The index of its last note, or -1. */
  private find(key: string): number {
    const { members, bytes, from } = this;
    for (let i = members.length - NOTE_WORDS; i >= 0; i -= NOTE_WORDS) {
      if (isKey(bytes, keyStart(members, i) - from, key)) return i;
    }
    return -1;
  }

  private rewritten(removed: readonly string[], added: string): RawJsonObject {
    const runs = this.kept(removed);
    const parts: [Buffer, ...Buffer[]] = [OPENING];
    for (const { start, end } of runs) {
      if (parts.length > 1) parts.push(SEPARATOR);
      parts.push(this.bytes.subarray(start, end));
    }
    const end = runs.length > 0 && added !== '' ? `,${added}}` : `${added}}`;
    parts.push(Buffer.from(end));
    const isLarge = this.bytes.length >= MIN_PIECED_BYTES;
    return new RawJsonObject(isLarge ? parts : [Buffer.concat(parts)], undefined, 0);
  }

  /** The ranges of members that stay, with the text between them. */
  private kept(removed: readonly string[]): Run[] {
    const { members, bytes, from } = this;
    const runs: Run[] = [];
    let run: Run | undefined;
    for (let i = 0; i < members.length; i += NOTE_WORDS) {
      const start = keyStart(members, i) - from;
      if (isOneOf(bytes, start, removed)) run = undefined;
      else {
        if (!run) runs.push((run = { start, end: start }));
        run.end = valueEnd(members, i) - from;
      }
    }
    const isCut = members.length === MAX_KNOWN_MEMBERS * NOTE_WORDS;
    const last = isCut && valueEnd(members, members.length - NOTE_WORDS) - from;
    if (last !== false) runs.push(...restAfter(bytes, last));
    return runs;
  }
}

function knownOf(notes: JsonNotes): JsonNotes {
  const words = MAX_KNOWN_MEMBERS * NOTE_WORDS;
  return notes.length > words ? notes.slice(0, words) : notes;
}

/** The members after the indexed ones: from the next comma to the closing brace. */
function restAfter(bytes: Buffer, last: number): Run[] {
  const comma = bytes.indexOf(COMMA, last);
  return comma < 0 ? [] : [{ start: comma + 1, end: bytes.length - 1 }];
}

function isOneOf(bytes: Buffer, start: number, keys: readonly string[]): boolean {
  for (const key of keys) if (isKey(bytes, start, key)) return true;
  return false;
}

const OPENING = Buffer.from('{');
const SEPARATOR = Buffer.from(',');

interface Run {
  readonly start: number;
  end: number;
}

const keyStart = (notes: JsonNotes, at: number): number => notes[at] ?? 0;
const valueStart = (notes: JsonNotes, at: number): number => notes[at + 1] ?? 0;
const valueEnd = (notes: JsonNotes, at: number): number => notes[at + 2] ?? 0;

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === 0x09;
}

/**
 * Whether the JSON string at that position equals a text; compared in place, because an object may have a million keys.
 */
export function isKey(bytes: Buffer, start: number, key: string): boolean {
  let at = start + 1;
  for (let i = 0; i < key.length; i++) {
    const wanted = key.charCodeAt(i);
    const byte = bytes[at++] ?? QUOTE;
    if (byte === BACKSLASH) {
      const escaped = bytes[at++];
      let code = escapes[escaped ?? 0] ?? 0;
      if (escaped === LOWER_U) {
        code = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
        at += 4;
      }
      if (code !== wanted) return false;
    } else if (byte >= 0x80 && wanted >= 0x80) return isLongKey(bytes, start, key);
    else if (byte === QUOTE || byte !== wanted) return false;
  }
  return bytes[at] === QUOTE;
}

/** The character that an escape stands for, by its code. */
const escapes: Readonly<Record<number, number>> = {
  0x22: 0x22,
  0x5c: 0x5c,
  0x2f: 0x2f,
  0x62: 0x08,
  0x66: 0x0c,
  0x6e: LINE_FEED,
  0x72: CARRIAGE_RETURN,
  0x74: 0x09,
};

/** Keys beyond ASCII, which no protocol name has. */
function isLongKey(bytes: Buffer, start: number, key: string): boolean {
  return JSON.parse(bytes.toString('utf8', start, stringEnd(bytes, start))) === key;
}

/** The index after the closing quote. */
function stringEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/**
 * On one line, as event streams and STDIO require. JSON has line breaks only where white space is allowed, so replacing
 * them by a space changes nothing.
 */
export function onOneLine(json: Buffer): Buffer {
  if (!json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json;
  const line = Buffer.from(json);
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) line[at] = SPACE;
  }
  return line;
}
