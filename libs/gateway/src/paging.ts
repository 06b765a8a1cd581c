import type { JsonObject, JsonValue } from '@app/platform';
import { rpcCode, RpcError } from '@app/mcp';

/** Clients that read only the first page exist; models that want more than this do not. */
export const PAGE_SIZE = 1_000;

export interface Page<T> {
  readonly items: readonly T[];
  /** How many come before it. */
  readonly start: number;
  /** What the result says of the page after it. */
  readonly next: JsonObject;
}

/**
 * One page of a list ordered by name. A cursor holds the last name of its page, so that it means the same
 * when the list has changed in between.
 */
export function pageOf<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  cursor: JsonValue | undefined,
): Page<T> {
  const after = cursor === undefined ? undefined : nameIn(cursor);
  const start = after === undefined ? 0 : firstAfter(items, nameOf, after);
  const page = items.slice(start, start + PAGE_SIZE);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + PAGE_SIZE < items.length;
  return { items: page, start, next: hasMore ? { nextCursor: cursorFor(nameOf(last)) } : {} };
}

function cursorFor(name: string): string {
  return Buffer.from(`after:${name}`).toString('base64url');
}

function nameIn(cursor: JsonValue): string {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (!text.startsWith('after:')) throw new RpcError(rpcCode.invalidParams, 'Invalid cursor');
  return text.slice('after:'.length);
}

/** Items are ordered by code units, as JavaScript compares strings. */
function firstAfter<T>(items: readonly T[], nameOf: (item: T) => string, name: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && nameOf(item) > name) high = middle;
    else low = middle + 1;
  }
  return low;
}
