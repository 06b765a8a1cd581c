import { quartersAt, type Sliced } from '@app/platform';
import { type Nesting, unitSize } from './written-size.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
/** Bytes per step: a fraction of a millisecond. */
const BYTES_AT_ONCE = 65_536;

/** The items of a list or the members of an object, in three columns: a result may have a million of them. */
export class JsonParts {
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  /** Quarters of tokens as written. */
  readonly sizes: number[] = [];

  constructor(private readonly json: Buffer) {}

  get count(): number {
    return this.starts.length;
  }

  add(start: number, end: number, size: number): void {
    this.starts.push(start);
    this.ends.push(end);
    this.sizes.push(size);
  }

  /** An item, or a member with its key. */
  at(index: number): Buffer {
    return trimmed(this.json, this.starts[index] ?? 0, this.ends[index] ?? 0);
  }
}

/** Finds the parts of a list or an object in the bytes of valid JSON, without parsing them. */
export function* jsonParts(json: Buffer, nesting: Nesting): Sliced<JsonParts> {
  const parts = new JsonParts(json);
  const first = firstAfterSpace(json, 0);
  let start = first + 1;
  let size = 0;
  let depth = 0;
  let inString = false;
  let yieldAt = BYTES_AT_ONCE;
  for (let at = start; at < json.length; at++) {
    if (at >= yieldAt) {
      yieldAt = at + BYTES_AT_ONCE;
      yield;
    }
    const byte = json[at] ?? 0;
    const isEscape = inString && byte === BACKSLASH;
    if (inString) inString = byte !== QUOTE;
    else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
    else if (depth > 0) {
      if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
    } else if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      if (firstAfterSpace(json, start) < at) parts.add(start, at, size);
      start = at + 1;
      size = 0;
      continue;
    }
    size += byteSize(json, at, nesting);
    // The escaped character is no syntax.
    if (isEscape) size += byteSize(json, ++at, nesting);
  }
  return parts;
}

/** The size of all of it, or of enough of it to exceed `most`. */
export function* jsonSize(json: Buffer, nesting: Nesting, most = Infinity): Sliced<number> {
  let size = 0;
  for (let at = 0; at < json.length && size <= most; at++) {
    if (at % BYTES_AT_ONCE === 0) yield;
    size += byteSize(json, at, nesting);
  }
  return size;
}

function byteSize(json: Buffer, at: number, nesting: Nesting): number {
  const byte = json[at] ?? 0;
  return byte < 0x80 ? unitSize(byte, nesting) : quartersAt(json, at);
}

/** The parts of a member of an object. */
export function memberOf(member: Buffer): { readonly name: string; readonly value: Buffer } {
  let end = 1;
  while (member[end] !== QUOTE) end += member[end] === BACKSLASH ? 2 : 1;
  const name: unknown = JSON.parse(member.toString('utf8', 0, end + 1));
  const colon = member.indexOf(COLON, end);
  return { name: String(name), value: trimmed(member, colon + 1, member.length) };
}

function trimmed(json: Buffer, start: number, end: number): Buffer {
  let last = end;
  while (last > start && (json[last - 1] ?? 0) <= SPACE) last--;
  return json.subarray(firstAfterSpace(json, start), last);
}

function firstAfterSpace(json: Buffer, start: number): number {
  let at = start;
  while (at < json.length && (json[at] ?? 0) <= SPACE) at++;
  return at;
}
