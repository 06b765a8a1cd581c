import type { JsonObject, JsonValue } from './json.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Longer strings are searched for their end with `indexOf`, whose call costs more than a short string. */
const LONG_STRING = 96;

interface Member {
  readonly key: string;
  /** From the quote of its key. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/**
 * A JSON object as somebody else wrote it, to be passed on byte by byte: numbers keep their digits and keys
 * their order, and a large one is neither parsed nor written again. Only its outermost members are known;
 * of what is inside them no more than where it ends. So whoever reads the whole as JSON sees these members
 * with these values and no others, or no JSON at all.
 */
export class WrittenObject {
  private constructor(
    /** Without white space around it. */
    readonly bytes: Buffer,
    private readonly members: readonly Member[],
  ) {}

  /** Undefined when it is no object, or of two minds about a key. */
  static read(bytes: Buffer): WrittenObject | undefined {
    let at = skipSpace(bytes, 0);
    const start = at;
    if (bytes[at] !== OPEN_BRACE) return undefined;
    const members: Member[] = [];
    const keys = new Keys();
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSE_BRACE && skipSpace(bytes, at + 1) === bytes.length) {
      return new WrittenObject(bytes.subarray(start, at + 1), members);
    }
    for (;;) {
      const member = readMember(bytes, at);
      if (!member || keys.has(member.key)) return undefined;
      keys.add(member.key);
      members.push(start === 0 ? member : moved(member, -start));
      at = skipSpace(bytes, member.end);
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
      else if (bytes[at] === CLOSE_BRACE && skipSpace(bytes, at + 1) === bytes.length) break;
      else return undefined;
    }
    return new WrittenObject(bytes.subarray(start, at + 1), members);
  }

  static of(object: JsonObject): WrittenObject {
    const written = WrittenObject.read(Buffer.from(JSON.stringify(object)));
    if (!written)
      throw new Error('unreachable: JSON.stringify writes an object with every key once');
    return written;
  }

  get keys(): readonly string[] {
    return this.members.map(({ key }) => key);
  }

  has(key: string): boolean {
    return this.member(key) !== undefined;
  }

  /** The bytes of one value. */
  raw(key: string): Buffer | undefined {
    const member = this.member(key);
    return member && this.bytes.subarray(member.valueStart, member.end);
  }

  /** One value, parsed; undefined also when it is no JSON. */
  get(key: string): JsonValue | undefined {
    const raw = this.raw(key);
    return raw && parsed(raw);
  }

  /** Whether it is JSON inside too. */
  get isJson(): boolean {
    return parsed(this.bytes) !== undefined;
  }

  /** All of it, parsed; undefined when it is no JSON inside. */
  toObject(): JsonObject | undefined {
    return parsed(this.bytes) as JsonObject | undefined;
  }

  without(key: string): WrittenObject {
    if (!this.has(key)) return this;
    return this.rewritten(
      this.members.filter((member) => member.key !== key),
      NOTHING,
    );
  }

  /** With these members, in place of those of the same name or after all others. */
  with(changes: JsonObject): WrittenObject {
    const kept = this.members.filter(({ key }) => !Object.hasOwn(changes, key));
    return this.rewritten(kept, changes);
  }

  private member(key: string): Member | undefined {
    for (const member of this.members) if (member.key === key) return member;
    return undefined;
  }

  private rewritten(kept: readonly Member[], added: JsonObject): WrittenObject {
    const members: Member[] = [];
    let size = 1;
    for (const member of kept) {
      members.push(moved(member, size - member.start));
      size += member.end - member.start + 1;
    }
    let tail = '';
    for (const key of Object.keys(added)) {
      const name = `${JSON.stringify(key)}:`;
      const value = JSON.stringify(added[key]);
      const valueStart = size + Buffer.byteLength(name);
      const end = valueStart + Buffer.byteLength(value);
      members.push({ key, start: size, valueStart, end });
      tail += `${name}${value},`;
      size = end + 1;
    }
    const bytes = Buffer.allocUnsafe(Math.max(2, size));
    bytes[0] = OPEN_BRACE;
    let at = 1;
    for (const { start, end } of kept) {
      at += this.bytes.copy(bytes, at, start, end);
      bytes[at++] = COMMA;
    }
    bytes.write(tail, at);
    // In the place of the last comma.
    bytes[bytes.length - 1] = CLOSE_BRACE;
    return new WrittenObject(bytes, members);
  }
}
const NOTHING: JsonObject = {};

/**
 * On one line, as the lines of an event stream and of STDIO want it. JSON has line ends only where white space
 * may be, so a space in their place changes nothing.
 */
export function onOneLine(json: Buffer): Buffer {
  if (!json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json;
  const line = Buffer.from(json);
  for (const lineEnd of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = line.indexOf(lineEnd); at >= 0; at = line.indexOf(lineEnd, at + 1)) {
      line[at] = SPACE;
    }
  }
  return line;
}

function parsed(bytes: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(bytes.toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
}

function moved({ key, start, valueStart, end }: Member, by: number): Member {
  return { key, start: start + by, valueStart: valueStart + by, end: end + by };
}

function readMember(bytes: Buffer, start: number): Member | undefined {
  if (bytes[start] !== QUOTE) return undefined;
  const keyEnd = skipString(bytes, start);
  if (keyEnd < 0) return undefined;
  const key = keyIn(bytes, start, keyEnd);
  if (key === undefined) return undefined;
  const colon = skipSpace(bytes, keyEnd);
  if (bytes[colon] !== COLON) return undefined;
  const valueStart = skipSpace(bytes, colon + 1);
  const end = skipValue(bytes, valueStart);
  return end < 0 ? undefined : { key, start, valueStart, end };
}

function keyIn(bytes: Buffer, start: number, end: number): string | undefined {
  const plain = bytes.toString('utf8', start + 1, end - 1);
  if (!plain.includes('\\')) return plain;
  return parsed(bytes.subarray(start, end)) as string | undefined;
}

/** Few keys are compared faster than hashed; of many only hashing is fast. */
class Keys {
  private readonly few: string[] = [];
  private many: Set<string> | undefined;

  has(key: string): boolean {
    return this.many ? this.many.has(key) : this.few.includes(key);
  }

  add(key: string): void {
    this.few.push(key);
    if (this.many) this.many.add(key);
    else if (this.few.length > FEW) this.many = new Set(this.few);
  }
}
const FEW = 16;

/** The four kinds of white space that JSON has; anything else below the space is caught as no value. */
function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== 0x09) break;
  }
  return at;
}

/** The place after the value that starts here, or -1 when it does not end. */
function skipValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    switch (byte) {
      case QUOTE:
        at = skipString(bytes, at);
        if (at < 0 || depth === 0) return at;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        at++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        // The end of what is around a number or a word, or of the value itself.
        if (depth === 0) return at > from ? at : -1;
        depth--;
        at++;
        if (depth === 0) return at;
        break;
      case COMMA:
      case SPACE:
      case LINE_FEED:
      case CARRIAGE_RETURN:
        if (depth === 0) return at > from ? at : -1;
        at++;
        break;
      default:
        at++;
    }
  }
  return depth === 0 && at > from ? at : -1;
}

/** The place after the closing quote of the string that starts here, or -1 when there is none. */
function skipString(bytes: Buffer, from: number): number {
  let at = from + 1;
  const near = Math.min(bytes.length, from + LONG_STRING);
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  for (let end = bytes.indexOf(QUOTE, at); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (end - escapes > at && bytes[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}
