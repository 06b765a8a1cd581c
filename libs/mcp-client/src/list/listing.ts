import {
  cutText,
  inSlices,
  isJsonObject,
  isLongerThan,
  jsonItems,
  type JsonObject,
  lastScanned,
  type Room,
  scanJson,
  type Sliced,
  RawJsonObject,
} from '@app/platform';
import type { ListKind, ListLimits, UpstreamSession } from '../upstream.js';
import { ListTooLarge, UpstreamProtocolError } from '../upstream.errors.js';

const methods = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const satisfies Record<ListKind, string>;

/** A cursor is kept in memory and sent back in a request. */
const MAX_CURSOR_CHARS = 8_192;
/** Of what is within it when it is read, the catalogue measures tools once more. */
const MAX_ITEM_CHARS = 262_144;
/** `\u0041` is one character. */
const BYTES_PER_ESCAPE = 6;
const MAX_NAME_CHARS = 100;
const MAX_NAME_BYTES = 1_000;
const OPEN_BRACKET = 0x5b;
/** Memory per value besides its text: three bytes of JSON can become an object of fifty bytes. */
const BYTES_PER_VALUE = 64;

/** Estimated memory in bytes of this JSON once it is parsed. */
export function weightOf(json: Buffer): number {
  scanJson(json, 0);
  return json.length + lastScanned().values * BYTES_PER_VALUE;
}

/** Memory of all lists of one server, within its own limit and the budget shared by all servers. */
export class ListAccount {
  private readonly kept = new Map<ListKind, number>();

  constructor(
    private readonly maxBytes: number,
    private readonly room: Room,
  ) {}

  begin(kind: ListKind): ListReading {
    return new ListReading(kind, this);
  }

  /** Whether a list of this kind may have this weight. */
  allows(kind: ListKind, weight: number): boolean {
    let all = weight;
    for (const [other, kept] of this.kept) if (other !== kind) all += kept;
    return all <= this.maxBytes;
  }

  take(weight: number): boolean {
    return this.room.take(weight);
  }

  give(weight: number): void {
    this.room.give(weight);
  }

  /** Releases the weight of the previous list of this kind. */
  replace(kind: ListKind, weight: number): void {
    this.room.give(this.kept.get(kind) ?? 0);
    this.kept.set(kind, weight);
  }
}

/** One list while its pages are read. */
class ListReading {
  private weight = 0;

  constructor(
    private readonly kind: ListKind,
    private readonly account: ListAccount,
  ) {}

  /** Charges a page before it is parsed, when its memory equals its size in bytes. */
  add(page: RawJsonObject): void {
    const weight = weightOf(page.bytes);
    const method = methods[this.kind];
    if (!this.account.allows(this.kind, this.weight + weight)) {
      throw new ListTooLarge(method, 'the lists of this server');
    }
    if (!this.account.take(weight)) throw new ListTooLarge(method, 'the lists of all servers');
    this.weight += weight;
  }

  keep(): void {
    this.account.replace(this.kind, this.weight);
  }

  giveUp(): void {
    this.account.give(this.weight);
  }
}

/** Reads every page of a list, within the limits: the pages of a server may never end. */
export async function listAll(
  session: Pick<UpstreamSession, 'requestBytes'>,
  kind: ListKind,
  limits: ListLimits,
  account: ListAccount,
): Promise<JsonObject[]> {
  const reading = account.begin(kind);
  try {
    const items = await readPages(session, kind, limits, reading);
    reading.keep();
    return items;
  } catch (error) {
    reading.giveUp();
    throw error;
  }
}

async function readPages(
  session: Pick<UpstreamSession, 'requestBytes'>,
  kind: ListKind,
  limits: ListLimits,
  reading: ListReading,
): Promise<JsonObject[]> {
  const endsAt = performance.now() + limits.timeoutMs;
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.maxPages; page++) {
    const written = await session.requestBytes(
      methods[kind],
      cursor === undefined ? {} : { cursor },
      {
        timeoutMs: Math.max(1, endsAt - performance.now()),
      },
    );
    reading.add(written);
    const left = limits.maxItems - items.length;
    for (const item of await inSlices(itemsIn(written, kind, limits, left))) items.push(item);
    const next = cursorIn(written, kind);
    if (next === undefined || items.length >= limits.maxItems) return items;
    if (seen.has(next)) throw new UpstreamProtocolError(`${methods[kind]} runs in a circle`);
    seen.add(next);
    cursor = next;
  }
  throw new UpstreamProtocolError(`${methods[kind]} has more than ${limits.maxPages} pages`);
}

/** Large pages are parsed item by item, so that no page blocks the event loop. */
function* itemsIn(
  page: RawJsonObject,
  kind: ListKind,
  limits: ListLimits,
  atMost: number,
): Sliced<JsonObject[]> {
  yield;
  const list = page.raw(kind);
  if (list?.[0] !== OPEN_BRACKET) {
    throw new UpstreamProtocolError(`${methods[kind]} has no ${kind}`);
  }
  const items: JsonObject[] = [];
  yield* jsonItems(list, (bytes) => {
    const item = isTooLong(bytes) ? undefined : readItem(bytes);
    if (!item || (kind !== 'tools' && isLongerThan(item, MAX_ITEM_CHARS))) {
      limits.onWithheld?.(nameOf(bytes), `it is longer than ${MAX_ITEM_CHARS} characters`);
    } else items.push(item);
    return items.length < atMost;
  });
  return items;
}

/** What is no object is read as an item without a name, and reported as one. */
function readItem(bytes: Buffer): JsonObject {
  const item: unknown = JSON.parse(bytes.toString());
  return isJsonObject(item) ? item : {};
}

/** Tells without parsing; an item with few escapes and little white space is as long as its bytes. */
function isTooLong(bytes: Buffer): boolean {
  if (bytes.length <= MAX_ITEM_CHARS) return false;
  if (bytes.length > MAX_ITEM_CHARS * BYTES_PER_ESCAPE) return true;
  const text = bytes.toString();
  const escapes = text.match(/\\u[\da-f]{4}/gi)?.length ?? 0;
  return text.length - escapes * (BYTES_PER_ESCAPE - 1) > MAX_ITEM_CHARS;
}

function nameOf(bytes: Buffer): string {
  const item = RawJsonObject.among(bytes, undefined, 0, bytes.length);
  const raw = item?.raw('name') ?? item?.raw('uri') ?? item?.raw('uriTemplate');
  // Of a longer one the beginning is shown as it was written.
  const text = raw && raw.length > MAX_NAME_BYTES ? raw.toString('utf8', 1, MAX_NAME_BYTES) : raw;
  const name: unknown = Buffer.isBuffer(text) ? JSON.parse(text.toString()) : text;
  return typeof name === 'string' ? cutText(name, MAX_NAME_CHARS) : 'without a name';
}

function cursorIn(page: RawJsonObject, kind: ListKind): string | undefined {
  const raw = page.raw('nextCursor');
  if (!raw) return undefined;
  if (raw.length > MAX_CURSOR_CHARS) {
    throw new UpstreamProtocolError(
      `${methods[kind]} has a cursor of more than ${MAX_CURSOR_CHARS} characters`,
    );
  }
  const cursor = page.get('nextCursor');
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}
