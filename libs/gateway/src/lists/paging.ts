import { type JsonValue, RawJsonObject } from '@app/platform';
import { rpcCode, RpcError } from '@app/mcp-protocol';

/** Large, because some clients read only the first page; models cannot use more tools than this. */
export const PAGE_SIZE = 1_000;
/** Limit on the bytes buffered per slow client. A single item may be larger. */
export const PAGE_BYTES = 1_048_576;

/** A list item, serialised, with the key that orders the list. */
export interface PageItem {
  readonly key: string;
  readonly json: string;
}

export interface WrittenPage {
  readonly page: RawJsonObject;
  readonly count: number;
}

/**
 * One page of a list, from items already behind its cursor. The cursor holds the last key of the page, so it stays
 * valid when the list changes.
 */
export function writePage(
  member: string,
  items: Iterable<PageItem>,
  head: readonly string[] = [],
): WrittenPage {
  const texts: string[] = [...head];
  let bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  let last: string | undefined;
  let next = '';
  let count = 0;
  for (const { key, json } of items) {
    bytes += Buffer.byteLength(json) + 1;
    if (last !== undefined && (count === PAGE_SIZE || bytes > PAGE_BYTES)) {
      next = `,"nextCursor":"${cursorFor(last)}"`;
      break;
    }
    texts.push(json);
    last = key;
    count++;
  }
  const page = RawJsonObject.read(Buffer.from(`{"${member}":[${texts.join(',')}]${next}}`));
  if (!page) throw new Error('unreachable: items of a page are written by JSON.stringify');
  return { page, count };
}

/** The key after which a page begins; undefined for the first page. */
export function keyIn(cursor: JsonValue | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (!text.startsWith(PREFIX)) throw new RpcError(rpcCode.invalidParams, 'Invalid cursor');
  return text.slice(PREFIX.length);
}
const PREFIX = 'after:';

function cursorFor(key: string): string {
  return Buffer.from(PREFIX + key).toString('base64url');
}

/** Binary search; items are ordered by code units, as JavaScript compares strings. */
export function firstAfter<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  key: string | undefined,
): number {
  if (key === undefined) return 0;
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && keyOf(item) > key) high = middle;
    else low = middle + 1;
  }
  return low;
}

const MAX_KEPT_PAGES = 256;
const MAX_KEPT_BYTES = 16_777_216;

/** Bounded cache of serialised pages, shared by clients that read the same list; evicts the oldest page first. */
export class WrittenPages {
  private readonly pages = new Map<string, RawJsonObject>();
  private bytes = 0;

  get(name: string, write: () => RawJsonObject): RawJsonObject {
    const kept = this.pages.get(name);
    if (kept) return kept;
    const page = write();
    this.pages.set(name, page);
    this.bytes += page.bytes.length + name.length;
    for (const [oldest, { bytes }] of this.pages) {
      if (this.bytes <= MAX_KEPT_BYTES && this.pages.size <= MAX_KEPT_PAGES) break;
      this.pages.delete(oldest);
      this.bytes -= bytes.length + oldest.length;
    }
    return page;
  }
}
