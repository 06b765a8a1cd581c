import { type JsonValue, RawJson, RawJsonObject, type Sliced } from '@app/platform';
import { endsOfText } from './ends-of-text.js';
import { jsonSize } from './json-parts.js';
import { SchemaFreedom } from './schema-freedom.js';
import { jsonIn, shortenJson } from './shorten-json.js';
import { writtenSize } from './written-size.js';

/** What models count of an image at most, however many bytes it has; in quarters of tokens. */
const IMAGE_SIZE = 4 * 1_600;
const TEXT_TERMS = { freedom: SchemaFreedom.under(true), nesting: 1, marked: true } as const;
const MAX_NAME_CHARS = 60;

/** One block of the content of a result. */
export interface ContentBlock {
  readonly json: Buffer;
  /** Quarters of tokens as written. */
  readonly size: number;
  /** Its beginning and end within that room; undefined if it cannot be cut. */
  cut(room: number): Sliced<Buffer | undefined>;
  /** For the notice when it is left out. */
  readonly name: string;
}

export function* readBlock(json: Buffer): Sliced<ContentBlock> {
  const size = yield* jsonSize(json, 0);
  const block = RawJsonObject.read(json);
  const type = textOf(block?.get('type')) ?? 'content';
  const indivisible = { json, size, name: named(type, size), cut: isIndivisible };
  if (!block) return indivisible;
  switch (type) {
    case 'text':
      return { ...indivisible, cut: (room) => cutMember(block, 'text', room) };
    case 'image':
      return { ...indivisible, size: Math.min(size, IMAGE_SIZE), name: mimed(block, type, json) };
    case 'audio':
      return { ...indivisible, name: mimed(block, type, json) };
    case 'resource': {
      const raw = block.raw('resource');
      const resource = raw && RawJsonObject.read(raw);
      if (!resource) return indivisible;
      const name = mimed(resource, 'embedded resource', json);
      if (!resource.has('text')) return { ...indivisible, name };
      return { ...indivisible, name, cut: (room) => cutResource(block, resource, room) };
    }
    default:
      return indivisible;
  }
}

// oxlint-disable-next-line require-yield
function* isIndivisible(): Sliced<undefined> {
  return undefined;
}

function* cutResource(
  block: RawJsonObject,
  resource: RawJsonObject,
  room: number,
): Sliced<Buffer | undefined> {
  const around = yield* jsonSize(block.without('resource').bytes, 0);
  const cut = yield* cutMember(resource, 'text', room - around - 16);
  return cut && block.with({ resource: new RawJson(cut.toString()) }).bytes;
}

function* cutMember(
  object: RawJsonObject,
  member: string,
  room: number,
): Sliced<Buffer | undefined> {
  const text = object.get(member);
  if (typeof text !== 'string') return undefined;
  const around = yield* jsonSize(object.with({ [member]: '' }).bytes, 0);
  const kept = yield* shortenText(text, room - around);
  return kept === undefined ? undefined : object.with({ [member]: kept }).bytes;
}

/** Sizes are those inside a JSON string. */
function* shortenText(text: string, room: number): Sliced<string | undefined> {
  yield;
  // An escaped character of the server may take more than as it is written here.
  if (writtenSize(text, 1) <= room) return text;
  const json = jsonIn(text);
  yield;
  const kept = json && (yield* shortenJson(json, room, TEXT_TERMS));
  return kept ? kept.toString() : endsOfText(text, room, 1);
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? readable(value) : undefined;
}

/** A name of a server, short and in characters that need no escape. */
export function readable(name: string): string {
  return name.slice(0, MAX_NAME_CHARS).replace(/[^\w .:/+-]/g, '?');
}

function mimed(object: RawJsonObject, what: string, json: Buffer): string {
  const type = textOf(object.get('mimeType'));
  const of = type === undefined ? '' : `${type}, `;
  return `${what} (${of}${json.length} bytes)`;
}

function named(type: string, size: number): string {
  return `${type} block (${Math.ceil(size / 4)} tokens)`;
}
