import { isJsonObject, type JsonObject, type JsonValue, type Sliced } from '@app/platform';
import type { Pieces } from './passage.js';
import { MAX_PIECE_CHARS, MAX_URL_CHARS, textPieces } from './text-pieces.js';

/** Usual field names of search results; the first one present counts. */
const TITLE_FIELDS = ['title', 'name', 'heading', 'label'];
const TEXT_FIELDS = [
  'content',
  'text',
  'snippet',
  'body',
  'markdown',
  'summary',
  'description',
  'excerpt',
  'answer',
  'message',
];
const URL_FIELDS = ['url', 'uri', 'link', 'href', 'html_url', 'web_url', 'source_url', 'permalink'];
const DATE_FIELDS = [
  'updated_at',
  'updatedAt',
  'updated',
  'lastModified',
  'last_modified',
  'modified',
  'published_at',
  'publishedAt',
  'published',
  'date',
  'created_at',
  'createdAt',
];
/** Shorter texts beside a list of results are metadata, such as "total: 3". */
const MIN_PROSE_CHARS = 40;
const MAX_DEPTH = 8;
/** Between them other work may run; a record may have 10,000 fields. */
const FIELDS_AT_ONCE = 500;

/** Longer texts are not parsed as dates. */
const MAX_DATE_CHARS = 64;

/** One piece per list element, or per record. */
export function* jsonPieces(value: JsonValue, depth = 0): Pieces {
  if (typeof value === 'string') return yield* textPieces(value);
  if (Array.isArray(value)) {
    for (const item of value) yield* piecesOfItem(item);
    return;
  }
  if (!isJsonObject(value)) return;
  const entries = Object.entries(value);
  yield;
  const only = entries.length === 1 ? entries[0]?.[1] : undefined;
  if (only !== undefined && isContainer(only) && depth < MAX_DEPTH) {
    return yield* jsonPieces(only, depth + 1);
  }
  const isRecord = firstText(value, [...TITLE_FIELDS, ...TEXT_FIELDS]) !== undefined;
  const lists = entries.filter(([, item]) => isListOfResults(item, isRecord));
  yield;
  if (lists.length === 0) return yield* piecesOfItem(value);
  const rest = Object.fromEntries(entries.filter(([, item]) => !isListOfResults(item, isRecord)));
  if (hasProse(rest)) yield* piecesOfItem(rest);
  for (const [, list] of lists) yield* jsonPieces(list, depth + 1);
}

/** One element of a list, without a wrapper of a single field such as `{ node: … }`. */
function* piecesOfItem(item: JsonValue): Pieces {
  if (typeof item === 'string') return yield* textPieces(item);
  if (Array.isArray(item)) {
    if (item.length > 0) yield* textPieces(lineOf(item));
    else yield;
    return;
  }
  if (!isJsonObject(item)) return yield item === null ? undefined : { text: String(item) };
  const [only, ...more] = Object.values(item);
  yield* piecesOfRecord(more.length === 0 && isJsonObject(only) ? only : item);
}

function* piecesOfRecord(record: JsonObject): Pieces {
  const title = firstText(record, TITLE_FIELDS);
  const text = firstText(record, TEXT_FIELDS);
  const url = firstText(record, URL_FIELDS);
  const shown = new Set([title?.field, text?.field, url?.field]);
  const facts = yield* factsOf(record, shown);
  const provenance = provenanceOf(record, url?.value);
  const whole = [title?.value, text?.value, facts].filter(Boolean).join('\n');
  if (whole.length <= MAX_PIECE_CHARS) {
    return yield whole === '' ? undefined : { text: whole, ...provenance };
  }
  const heading = title ? `${title.value.slice(0, 200)}\n` : '';
  for (const part of [text?.value ?? '', facts]) {
    for (const piece of textPieces(part)) {
      yield piece && { ...piece, ...provenance, text: `${heading}${piece.text}` };
    }
  }
}

/** A line for each other field. */
function* factsOf(record: JsonObject, shown: ReadonlySet<string | undefined>): Sliced<string> {
  const lines: string[] = [];
  for (const [i, [field, value]] of Object.entries(record).entries()) {
    if (i % FIELDS_AT_ONCE === FIELDS_AT_ONCE - 1) yield;
    if (!shown.has(field) && !isEmpty(value)) lines.push(`${field}: ${lineOf(value)}`);
  }
  return lines.join('\n');
}

function provenanceOf(
  record: JsonObject,
  url: string | undefined,
): { url?: string; writtenAt?: number } {
  const writtenAt = dateIn(firstText(record, DATE_FIELDS)?.value ?? '');
  return {
    ...(url !== undefined && url.length <= MAX_URL_CHARS && { url }),
    ...(writtenAt !== undefined && { writtenAt }),
  };
}

/** Milliseconds since 1970; undefined if the text is not a date. */
export function dateIn(text: string): number | undefined {
  const date = text.length > MAX_DATE_CHARS ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}

function isEmpty(value: JsonValue): boolean {
  return value === '' || value === null || (isContainer(value) && Object.keys(value).length === 0);
}

function lineOf(value: JsonValue): string {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return value.map(String).join('; ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Lists of objects are results; lists of plain values too, unless they belong to a record (such as tags). */
function isListOfResults(value: JsonValue, isOfRecord: boolean): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return !isOfRecord || value.some(isJsonObject);
}

function hasProse(record: JsonObject): boolean {
  return Object.values(record).some(
    (value) => typeof value === 'string' && value.length >= MIN_PROSE_CHARS,
  );
}

function firstText(
  record: JsonObject,
  fields: readonly string[],
): { field: string; value: string } | undefined {
  for (const field of fields) {
    const value = record[field];
    if (typeof value === 'string' && value.trim() !== '') return { field, value: value.trim() };
  }
  return undefined;
}

function isContainer(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}
