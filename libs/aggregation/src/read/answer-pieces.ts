import { atOnce, isJsonObject, type JsonObject, type JsonValue, type Sliced } from '@app/platform';
import { dateIn, jsonPieces } from './json-pieces.js';
import { readJsonPrefix } from './json-prefix.js';
import type { Piece, Pieces } from './passage.js';
import { MAX_URL_CHARS, textPieces } from './text-pieces.js';

/** Limits per answer: a hostile answer must not delay the others. */
const MAX_CHARS = 500_000;
const MAX_PIECES = 250;
/** More than pieces, because blocks may repeat the structured content or contain no text. */
const MAX_BLOCKS = 1_000;

/** Sentences with which servers say that they found nothing. */
const NOTHING_FOUND =
  /^(?:sorry,? )?(?:(?:there (?:are|were) )?(?:no|0|zero) (?:\w+ ){0,2}(?:results?|matches|documents?|entries|hits|files)|nothing)\b.{0,80}$/i;

export interface AnswerPieces {
  readonly pieces: readonly Piece[];
  /** Whether a part of the answer was left out because of its size. */
  readonly isCut: boolean;
}

/** Reads a result of `tools/call`: its content blocks and its structured content. */
export function piecesOfAnswer(result: JsonObject): AnswerPieces {
  return atOnce(answerPieces(result));
}

/** In slices, for results from servers. */
export function* answerPieces(result: JsonObject): Sliced<AnswerPieces> {
  let left = MAX_CHARS;
  let isCut = false;
  const pieces: Piece[] = [];
  for (const read of readingsOf(result)) {
    yield;
    const reading = yield* read(left);
    left -= reading.chars;
    isCut ||= reading.isCut;
    for (const piece of reading.pieces) {
      yield;
      if (!piece || NOTHING_FOUND.test(piece.text)) continue;
      if (pieces.length === MAX_PIECES) return { pieces, isCut: true };
      pieces.push(withDateOf(reading, piece));
    }
  }
  return { pieces, isCut };
}

interface BlockReading {
  readonly pieces: Iterable<Piece | undefined>;
  readonly chars: number;
  readonly isCut: boolean;
  readonly writtenAt?: number | undefined;
}
const nothing: BlockReading = { pieces: [], chars: 0, isCut: false };

/** Readings run in order: each gets the characters that the previous ones left of the limit. */
type Read = (left: number) => Sliced<BlockReading>;

function* readingsOf(result: JsonObject): Generator<Read> {
  const structured = result['structuredContent'];
  const structuredText = structured === undefined ? '' : JSON.stringify(structured);
  if (structured !== undefined) {
    yield (left) => readStructured(structured, structuredText, left);
  }
  const content = Array.isArray(result['content']) ? result['content'] : [];
  // Only the part that is read can be repeated.
  const readText = structuredText.slice(0, MAX_CHARS);
  for (const block of content.slice(0, MAX_BLOCKS)) {
    if (!isJsonObject(block)) continue;
    yield (left) =>
      structured !== undefined && repeats(block, readText) ? read(nothing) : readBlock(block, left);
  }
  if (content.length > MAX_BLOCKS) yield () => read({ ...nothing, isCut: true });
}

// eslint-disable-next-line require-yield
function* read(reading: BlockReading): Sliced<BlockReading> {
  return reading;
}

function withDateOf({ writtenAt }: BlockReading, piece: Piece): Piece {
  return writtenAt === undefined ? piece : { writtenAt, ...piece };
}

function readStructured(value: JsonValue, text: string, left: number): Sliced<BlockReading> {
  return read(
    text.length > left
      ? readText(text, left)
      : { pieces: jsonPieces(value), chars: text.length, isCut: false },
  );
}

/** Servers repeat structured content, or a string of it, as text for older clients. */
function repeats(block: JsonObject, structured: string): boolean {
  const text = textOf(block['text']);
  if (/^\s*[[{]/.test(text)) return true;
  return text.length <= structured.length && structured.includes(JSON.stringify(text).slice(1, -1));
}

function* readBlock(block: JsonObject, left: number): Sliced<BlockReading> {
  const annotations = isJsonObject(block['annotations']) ? block['annotations'] : {};
  const writtenAt = dateIn(textOf(annotations['lastModified']));
  switch (block['type']) {
    case 'text': {
      const text = textOf(block['text']);
      const json =
        text.length <= left && /^\s*[[{]/.test(text) ? yield* readJsonPrefix(text) : undefined;
      if (!json) return { ...readText(text, left), writtenAt };
      const { value, isCut } = json;
      return { pieces: jsonPieces(value), chars: text.length, isCut, writtenAt };
    }
    case 'resource': {
      const resource = isJsonObject(block['resource']) ? block['resource'] : {};
      if (typeof resource['text'] !== 'string') return nothing;
      const reading = readText(resource['text'], left);
      return { ...reading, pieces: withUrl(reading.pieces, resource['uri']), writtenAt };
    }
    case 'resource_link': {
      const { uri, name, title, description } = block;
      if (typeof uri !== 'string') return nothing;
      const lines = [title ?? name, description].filter((line) => typeof line === 'string');
      const reading = readText(lines.join('\n') || uri, left);
      return { ...reading, pieces: withUrl(reading.pieces, uri), writtenAt };
    }
    default:
      // Images and audio have no text to rank.
      return nothing;
  }
}

function readText(text: string, left: number): BlockReading {
  const readable = text.slice(0, left).toWellFormed();
  return {
    pieces: textPieces(readable),
    chars: readable.length,
    isCut: readable.length < text.length,
  };
}

function* withUrl(pieces: Iterable<Piece | undefined>, url: JsonValue | undefined): Pieces {
  const isUsable = typeof url === 'string' && url.length <= MAX_URL_CHARS;
  for (const piece of pieces) yield piece && isUsable ? { ...piece, url } : piece;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
