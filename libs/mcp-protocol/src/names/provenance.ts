import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { QUERY_TOOL_NAME } from './names.js';

/** `_meta` key of the aggregators of this kind that something passed through, nearest first, by deployment id. */
const VIA_META_KEY = 'switchboard/via';

/** Maximum number of aggregators between a client and the server that executes the call. */
export const MAX_AGGREGATORS = 5;
const MAX_ID_CHARS = 64;

/** The aggregators in the `_meta` of a handshake, list item or request; empty when the value is invalid. */
export function viaIn(meta: JsonValue | undefined): readonly string[] {
  const via = isJsonObject(meta) ? meta[VIA_META_KEY] : undefined;
  if (!Array.isArray(via)) return NONE;
  const ids = via.slice(0, MAX_AGGREGATORS + 1);
  return ids.every((id) => typeof id === 'string' && id.length <= MAX_ID_CHARS)
    ? (ids as string[])
    : NONE;
}
const NONE: readonly string[] = [];

export function viaMeta(via: readonly string[]): JsonObject {
  return { [VIA_META_KEY]: [...via] };
}

/**
 * The path of aggregators behind a server, nearest first, as its handshake states it. Items of its lists may come
 * from further aggregators, which each item names. An item that has been here before is dropped, so that
 * aggregators registered at each other, in a cycle of any length, do not multiply their lists.
 */
export class Provenance {
  static readonly none = new Provenance([], undefined);

  constructor(
    readonly via: readonly string[],
    private readonly ownId: string | undefined,
  ) {}

  get isAggregator(): boolean {
    return this.via.length > 0;
  }

  /** Why the session has to be refused; undefined when it is allowed. */
  get refusal(): string | undefined {
    if (this.ownId !== undefined && this.via[0] === this.ownId) {
      return 'this is the aggregator itself: its address was registered as one of its own servers; remove the server or change its connection_config';
    }
    if (this.ownId !== undefined && this.via.includes(this.ownId)) {
      return 'this is the aggregator itself, reached through another one; remove the server or change its connection_config';
    }
    return this.via.length > MAX_AGGREGATORS
      ? `it is behind more than ${MAX_AGGREGATORS} aggregators`
      : undefined;
  }

  /** The item with its path added, or the reason to drop it. */
  admit(
    item: JsonObject,
  ): { readonly item: JsonObject } | { readonly name: string; readonly refusal: string } {
    const { via, ownId } = this;
    const { _meta: meta, name } = item;
    const way = [...via, ...viaIn(meta)];
    if (way.length === 0) return { item };
    const refused = (refusal: string) => ({
      name: typeof name === 'string' ? name : '?',
      refusal: `is not published: ${refusal}`,
    });
    if (ownId !== undefined && way.includes(ownId)) {
      return refused('it comes from this aggregator itself');
    }
    if (way.length > MAX_AGGREGATORS) {
      return refused(`it came through more than ${MAX_AGGREGATORS} aggregators`);
    }
    if (this.isAggregator && name === QUERY_TOOL_NAME) {
      return refused('queries are answered by this aggregator');
    }
    return { item: { ...item, _meta: { ...(isJsonObject(meta) && meta), ...viaMeta(way) } } };
  }

  /** The `_meta` of a request to this server, with the aggregators that it passed through. */
  metaFor(params: JsonObject | undefined): JsonObject | undefined {
    if (!this.isAggregator || this.ownId === undefined) return undefined;
    return viaMeta([...viaIn(params?.['_meta']), this.ownId]);
  }
}
