import { fairShare, JsonFault, lastScanned, scanJson, type Sliced } from '@app/platform';
import { endsOfText } from './ends-of-text.js';
import { type JsonParts, jsonParts, jsonSize, memberOf } from './json-parts.js';
import type { SchemaFreedom } from './schema-freedom.js';
import { type Nesting, writtenSize } from './written-size.js';

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
/** Each level is read again. */
const MAX_LEVELS = 8;
/** A part that is cut to less says nothing; then whole parts at both ends are kept instead. */
const MIN_SHARE = 400;
/** Of the room, what the parts at the beginning get. */
const HEAD = 0.6;
/** Names read per slice. */
const MEMBERS_AT_ONCE = 1_000;
/** Between two parts. */
const COMMA_SIZE = 1;
/** Around them. */
const BRACKETS_SIZE = 2;

export interface JsonTerms {
  readonly freedom: SchemaFreedom;
  readonly nesting: Nesting;
  /** Whether items and members that say what is missing may be inserted, for readers that are models. */
  readonly marked: boolean;
}

/**
 * A JSON text without the middle of its lists, objects and strings, within a room in quarters of tokens as written.
 * What stays is copied as bytes, so that numbers keep their digits. Undefined if that is impossible.
 */
export function* shortenJson(
  json: Buffer,
  room: number,
  terms: JsonTerms,
  level = 0,
): Sliced<Buffer | undefined> {
  if (room <= 0) return undefined;
  const size = yield* jsonSize(json, terms.nesting, room);
  if (size <= room) return json;
  if (level === MAX_LEVELS) return undefined;
  switch (json[0]) {
    case QUOTE:
      return shortenString(json, room, terms);
    case OPEN_BRACKET:
      return yield* new Shortening(room, terms, level).list(json);
    case OPEN_BRACE:
      return yield* new Shortening(room, terms, level).object(json);
    default:
      return undefined;
  }
}

/** Of a text that is a JSON list or object; undefined for other texts. */
export function jsonIn(text: string): Buffer | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const json = Buffer.from(text.trim());
  const notes = scanJson(json, 0);
  return notes instanceof JsonFault || lastScanned().depth > MAX_DEPTH ? undefined : json;
}
const MAX_DEPTH = 1_000;

function shortenString(json: Buffer, room: number, terms: JsonTerms): Buffer | undefined {
  if (!terms.freedom.mayCutText) return undefined;
  const text: unknown = JSON.parse(json.toString());
  const nesting: Nesting = terms.nesting === 0 ? 1 : 2;
  const quotes = terms.nesting === 0 ? 2 : 4;
  if (typeof text !== 'string') return undefined;
  const fits = writtenSize(text, nesting) <= room - quotes;
  const kept = fits ? text : endsOfText(text, room - quotes, nesting);
  return kept === undefined ? undefined : Buffer.from(JSON.stringify(kept));
}

/** One list or object that is larger than its room. */
class Shortening {
  constructor(
    private readonly room: number,
    private readonly terms: JsonTerms,
    private readonly level: number,
  ) {}

  *list(json: Buffer): Sliced<Buffer | undefined> {
    const { freedom } = this.terms;
    const parts = yield* jsonParts(json, this.terms.nesting);
    const ofItem = freedom.ofItem();
    const all = yield* this.fairly(parts, (part, room) => this.within(part, room, ofItem));
    if (all) return written('[', all, ']');
    if (!freedom.mayDropItems) return undefined;
    const room = this.room - BRACKETS_SIZE - this.sizeOf(this.markOf('items', parts.count));
    if (room < 0) return undefined;
    const kept = keptEnds(parts.sizes, room);
    if (kept.size === 0) {
      const first = yield* this.within(parts.at(0), room, ofItem);
      return written(
        '[',
        [...(first ? [first] : []), ...this.mark('items', first ? 1 : 0, parts)],
        ']',
      );
    }
    return written('[', this.withMark('items', kept, parts), ']');
  }

  *object(json: Buffer): Sliced<Buffer | undefined> {
    const { freedom } = this.terms;
    const parts = yield* jsonParts(json, this.terms.nesting);
    const all = yield* this.fairly(parts, (part, room) => this.member(part, room));
    if (all) return written('{', all, '}');
    const needed = new Set<number>();
    let room = this.room - BRACKETS_SIZE - this.sizeOf(this.markOf('members', parts.count));
    for (let i = 0; i < parts.count && !freedom.isComplete; i++) {
      if (i % MEMBERS_AT_ONCE === 0) yield;
      if (freedom.mayDropMember(memberOf(parts.at(i)).name)) continue;
      needed.add(i);
      room -= (parts.sizes[i] ?? 0) + COMMA_SIZE;
    }
    if (needed.size === parts.count || room < 0) return undefined;
    const kept = keptEnds(parts.sizes, room);
    for (const i of needed) kept.add(i);
    return written('{', this.withMark('members', kept, parts), '}');
  }

  /** Every part, the large ones cut to one common size. Undefined if that is too small, or one cannot be cut. */
  private *fairly(
    parts: JsonParts,
    cut: (part: Buffer, room: number) => Sliced<Buffer | undefined>,
  ): Sliced<Buffer[] | undefined> {
    const room = this.room - BRACKETS_SIZE - parts.count * COMMA_SIZE;
    if (room < 0) return undefined;
    const share = fairShare(parts.sizes, room);
    if (share < MIN_SHARE) return undefined;
    const all: Buffer[] = [];
    for (let i = 0; i < parts.count; i++) {
      const part = parts.at(i);
      const kept = (parts.sizes[i] ?? 0) <= share ? part : yield* cut(part, share);
      if (!kept) return undefined;
      all.push(kept);
    }
    return all;
  }

  private *member(part: Buffer, room: number): Sliced<Buffer | undefined> {
    const { name, value } = memberOf(part);
    const { nesting, freedom } = this.terms;
    const key = JSON.stringify(name);
    const valueRoom = room - writtenSize(key, nesting) - 1;
    const kept = yield* this.within(value, valueRoom, freedom.ofMember(name));
    return kept && Buffer.concat([Buffer.from(`${key}:`), kept]);
  }

  private within(part: Buffer, room: number, freedom: SchemaFreedom): Sliced<Buffer | undefined> {
    return shortenJson(part, room, { ...this.terms, freedom }, this.level + 1);
  }

  private withMark(what: string, kept: ReadonlySet<number>, parts: JsonParts): Buffer[] {
    const found: Buffer[] = [];
    let isMarked = false;
    for (let i = 0; i < parts.count; i++) {
      if (kept.has(i)) found.push(parts.at(i));
      else if (!isMarked) {
        found.push(...this.mark(what, kept.size, parts));
        isMarked = true;
      }
    }
    return found;
  }

  private mark(what: string, kept: number, parts: JsonParts): Buffer[] {
    const { marked } = this.terms;
    return marked ? [Buffer.from(this.markOf(what, parts.count, parts.count - kept))] : [];
  }

  private markOf(what: string, total: number, missing = total): string {
    const text = `${missing} of ${total} ${what} left out`;
    return what === 'items' ? `"… ${text} …"` : `"…":"${text}"`;
  }

  private sizeOf(mark: string): number {
    return this.terms.marked ? writtenSize(mark, this.terms.nesting) + COMMA_SIZE : 0;
  }
}

/** Parts at the beginning and at the end that fit together. */
function keptEnds(sizes: readonly number[], room: number): Set<number> {
  const kept = new Set<number>();
  let left = room;
  let head = 0;
  const take = (index: number, least: number): boolean => {
    const size = (sizes[index] ?? 0) + COMMA_SIZE;
    if (kept.size === sizes.length || left - size < least) return false;
    left -= size;
    kept.add(index);
    return true;
  };
  while (take(head, room * (1 - HEAD))) head++;
  for (let tail = sizes.length - 1; tail >= head && take(tail, 0);) tail--;
  while (!kept.has(head) && take(head, 0)) head++;
  return kept;
}

function written(open: string, parts: readonly Buffer[], close: string): Buffer {
  const pieces: Buffer[] = [Buffer.from(open)];
  for (const [i, part] of parts.entries()) {
    if (i > 0) pieces.push(Buffer.from(','));
    pieces.push(part);
  }
  return Buffer.concat([...pieces, Buffer.from(close)]);
}
