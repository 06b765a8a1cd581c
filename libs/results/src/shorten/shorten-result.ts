import {
  fairShare,
  jsonItems,
  type JsonValue,
  RawJsonObject,
  type Sliced,
  writeJson,
} from '@app/platform';
import { type ContentBlock, readable, readBlock } from './content-block.js';
import { jsonSize } from './json-parts.js';
import { SchemaFreedom } from './schema-freedom.js';
import { shortenJson } from './shorten-json.js';
import { writtenSize } from './written-size.js';

/** Written by themselves. */
const KNOWN_MEMBERS = new Set(['content', 'structuredContent', 'isError']);
/** Of the room, what members that are neither content nor structured content get together. */
const OTHERS = 0.25;
/** For the names of what was left out. */
const NAMES = 0.1;
const MAX_NAMES_ROOM = 900;
/** A content block that is cut to less says nothing. */
const MIN_SHARE = 400;
const HEAD = 0.6;
/** More blocks than this are not read one by one; the whole result has them. */
const MAX_BLOCKS = 10_000;

export interface ShorteningTerms {
  readonly budgetTokens: number;
  readonly outputSchema: JsonValue | undefined;
  /** The blocks that end the content: what was left out, and where the whole is. */
  readonly notice: (leftOut: readonly string[]) => readonly JsonValue[];
}

/** A result whose size was found; `shorten` is undefined if it fits its budget. */
export interface MeasuredResult {
  readonly shorten?: (terms: ShorteningTerms) => Sliced<RawJsonObject>;
}

/**
 * Whether the result fits that many tokens. An image counts as much as models count it, everything else as it is
 * written. A request for input is no result yet, and fits always.
 */
export function* measureResult(
  result: RawJsonObject,
  budgetTokens: number,
): Sliced<MeasuredResult> {
  if (result.get('resultType') === 'input_required') return {};
  const whole = yield* jsonSize(result.bytes, 0);
  const blocks = yield* blocksOf(result);
  let size = whole;
  for (const block of blocks) size -= block.written - block.size;
  if (size <= 4 * budgetTokens) return {};
  return { shorten: (terms) => new Shortener(result, blocks, terms).run() };
}

interface MeasuredBlock extends ContentBlock {
  readonly written: number;
}

function* blocksOf(result: RawJsonObject): Sliced<MeasuredBlock[]> {
  const content = result.raw('content');
  const items: Buffer[] = [];
  if (content?.[0] === OPEN_BRACKET) {
    yield* jsonItems(content, (item) => items.push(item) < MAX_BLOCKS);
  }
  const blocks: MeasuredBlock[] = [];
  for (const item of items) {
    const block = yield* readBlock(item);
    blocks.push({ ...block, written: yield* jsonSize(item, 0) });
  }
  return blocks;
}
const OPEN_BRACKET = 0x5b;

class Shortener {
  private readonly leftOut: string[] = [];

  constructor(
    private readonly result: RawJsonObject,
    private readonly blocks: readonly ContentBlock[],
    private readonly terms: ShorteningTerms,
  ) {}

  *run(): Sliced<RawJsonObject> {
    if (this.blocks.length === MAX_BLOCKS) {
      this.leftOut.push(`content blocks after the first ${MAX_BLOCKS}`);
    }
    const reserve = writeJson([...this.terms.notice([])]);
    const quarters = 4 * this.terms.budgetTokens;
    const namesRoom = Math.min(MAX_NAMES_ROOM, quarters * NAMES);
    const noticeSize = (yield* jsonSize(Buffer.from(reserve), 0)) + namesRoom;
    const all = quarters - noticeSize - WRAPPING;
    const others = yield* this.otherMembers(all);
    const room = Math.max(0, all - others.size);
    const structured = yield* this.structured(room);
    const content = yield* this.content(
      room - (structured?.length ? yield* jsonSize(structured, 0) : 0),
    );
    const notice = this.terms
      .notice(named(this.leftOut, namesRoom))
      .map((block) => writeJson(block));
    const members = [
      `"content":[${[...content.map(String), ...notice].join(',')}]`,
      ...(structured ? [`"structuredContent":${structured.toString()}`] : []),
      ...this.errorMember(structured),
      ...others.members,
    ];
    const shortened = RawJsonObject.read(Buffer.from(`{${members.join(',')}}`));
    if (!shortened) throw new Error('a shortened result is JSON');
    return shortened;
  }

  /** In their order, as long as they fit. */
  private *otherMembers(room: number): Sliced<{ members: string[]; size: number }> {
    const members: string[] = [];
    let size = 0;
    for (const key of new Set(this.result.keys)) {
      if (KNOWN_MEMBERS.has(key)) continue;
      const raw = this.result.raw(key);
      if (!raw) continue;
      const member = Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), raw]);
      const memberSize = (yield* jsonSize(member, 0)) + 1;
      if (key === 'resultType' && memberSize < WRAPPING) members.push(member.toString());
      else if (size + memberSize <= room * OTHERS) {
        members.push(member.toString());
        size += memberSize;
      } else this.leftOut.push(`the member ${readable(key)}`);
    }
    return { members, size };
  }

  /** Its part of the room; all of it if it cannot be cut, because clients refuse a result without it. */
  private *structured(room: number): Sliced<Buffer | undefined> {
    const raw = this.result.raw('structuredContent');
    if (!raw) return undefined;
    const size = yield* jsonSize(raw, 0);
    const sizes = [...this.blocks.map((block) => block.size), size];
    const share = Math.min(size, fairShare(sizes, room));
    const freedom = SchemaFreedom.under(this.terms.outputSchema);
    const kept = yield* shortenJson(raw, share, { freedom, nesting: 0, marked: false });
    if (kept) {
      if (kept.length < raw.length) this.leftOut.push('parts of the structured content');
      return kept;
    }
    if (size <= room) return raw;
    const why =
      this.terms.outputSchema === undefined
        ? 'it cannot be shortened'
        : 'it cannot be shortened so that it stays valid against the output schema (without it a result has to be marked as an error)';
    this.leftOut.push(`the structured content: ${why}`);
    return undefined;
  }

  private *content(room: number): Sliced<Buffer[]> {
    const { blocks } = this;
    const left = room - blocks.length;
    const share = fairShare(
      blocks.map(({ size }) => size),
      left,
    );
    return share >= MIN_SHARE || blocks.length <= FEW
      ? yield* this.eachWithin(share)
      : this.ends(left);
  }

  private *eachWithin(share: number): Sliced<Buffer[]> {
    const kept: Buffer[] = [];
    for (const block of this.blocks) {
      const part = block.size <= share ? block.json : yield* block.cut(share);
      if (part) kept.push(part);
      else this.leftOut.push(block.name);
    }
    return kept;
  }

  /** Too many blocks to keep a part of each: whole ones from the beginning and the end. */
  private ends(room: number): Buffer[] {
    const { blocks } = this;
    const head: Buffer[] = [];
    const tail: Buffer[] = [];
    let left = room;
    const take = (block: ContentBlock | undefined, least: number): Buffer | undefined => {
      if (!block || left - block.size - 1 < least) return undefined;
      left -= block.size + 1;
      return block.json;
    };
    while (head.length < blocks.length) {
      const json = take(blocks[head.length], room * (1 - HEAD));
      if (!json) break;
      head.push(json);
    }
    while (head.length + tail.length < blocks.length) {
      const json = take(blocks[blocks.length - 1 - tail.length], 0);
      if (!json) break;
      tail.unshift(json);
    }
    const missing = blocks.length - head.length - tail.length;
    this.leftOut.push(`${missing} of ${blocks.length} content blocks`);
    return [...head, ...tail];
  }

  /** The clients of both SDKs refuse a result of a tool with an output schema that has neither. */
  private errorMember(structured: Buffer | undefined): string[] {
    const isError = this.result.get('isError') === true || this.misses(structured);
    return this.result.has('isError') || isError ? [`"isError":${isError}`] : [];
  }

  private misses(structured: Buffer | undefined): boolean {
    return (
      this.terms.outputSchema !== undefined && this.result.has('structuredContent') && !structured
    );
  }
}

/** Braces, the names of members, and members that always stay. */
const WRAPPING = 120;
/** So few blocks are each cut or left out by name. */
const FEW = 3;

/** As many as fit, with their separators. */
function named(leftOut: readonly string[], room: number): string[] {
  const names: string[] = [];
  let left = room - MORE_SIZE;
  for (const name of leftOut) {
    left -= writtenSize(name, 1) + 2;
    if (left < 0) return [...names, `${leftOut.length - names.length} more`];
    names.push(name);
  }
  return names;
}
/** “Not included: 10000 more.” */
const MORE_SIZE = 40;
