import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import type { Piece } from './passage.js';
import { MAX_PIECE_CHARS, piecesOfText } from './text-pieces.js';

/** How the fields of search results are called out there; the first that is there counts. */
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
/** A metadata field ("total: 3") says nothing to the question; a text of some length may. */
const MIN_PROSE_CHARS = 40;
const MAX_DEPTH = 8;

/** Lists become one piece an element; a record becomes one readable piece. */
export function piecesOfJson(value: JsonValue, depth = 0): Piece[] {
  if (typeof value === 'string') return piecesOfText(value);
  if (Array.isArray(value)) return value.flatMap(piecesOfItem);
  if (!isJsonObject(value)) return [];
  const entries = Object.entries(value);
  const only = entries.length === 1 ? entries[0]?.[1] : undefined;
  if (only !== undefined && isContainer(only) && depth < MAX_DEPTH) {
    return piecesOfJson(only, depth + 1);
  }
  const lists = entries.filter(([, item]) => isListOfResults(item, value));
  if (lists.length === 0) return piecesOfItem(value);
  const rest = Object.fromEntries(entries.filter((entry) => !lists.includes(entry)));
  return [
    ...(hasProse(rest) ? piecesOfItem(rest) : []),
    ...lists.flatMap(([, list]) => piecesOfJson(list, depth + 1)),
  ];
}

/** One element of a list; a wrapper with a single field (`{ node: … }`) is taken off. */
function piecesOfItem(item: JsonValue): Piece[] {
  if (typeof item === 'string') return piecesOfText(item);
  if (Array.isArray(item)) return item.length > 0 ? piecesOfText(lineOf(item)) : [];
  if (!isJsonObject(item)) return item === null ? [] : [{ text: String(item) }];
  const [only, ...more] = Object.values(item);
  if (more.length === 0 && isJsonObject(only)) return piecesOfRecord(only);
  return piecesOfRecord(item);
}

function piecesOfRecord(record: JsonObject): Piece[] {
  const title = firstText(record, TITLE_FIELDS);
  const text = firstText(record, TEXT_FIELDS);
  const url = firstText(record, URL_FIELDS);
  const date = firstText(record, DATE_FIELDS);
  const shown = new Set([title?.field, text?.field, url?.field]);
  const lines = Object.entries(record)
    .filter(([field, value]) => !shown.has(field) && !isEmpty(value))
    .map(([field, value]) => `${field}: ${lineOf(value)}`);
  const provenance = {
    ...(url && { url: url.value }),
    ...(date && !Number.isNaN(Date.parse(date.value)) && { writtenAt: Date.parse(date.value) }),
  };
  const facts = lines.join('\n');
  const whole = [title?.value, text?.value, facts].filter(Boolean).join('\n');
  if (whole === '') return [];
  if (whole.length <= MAX_PIECE_CHARS) return [{ text: whole, ...provenance }];
  const parts = [...piecesOfText(text?.value ?? ''), ...piecesOfText(facts)];
  return parts.map((part) => ({
    ...part,
    ...provenance,
    text: title ? `${title.value.slice(0, 200)}\n${part.text}` : part.text,
  }));
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

/** Objects in a list are results; plain values are, unless they belong to a record (its tags, say). */
function isListOfResults(value: JsonValue, owner: JsonObject): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.some(isJsonObject) || !firstText(owner, [...TITLE_FIELDS, ...TEXT_FIELDS]);
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
