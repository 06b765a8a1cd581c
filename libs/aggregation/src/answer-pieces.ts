import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { piecesOfJson } from './json-pieces.js';
import type { Piece } from './passage.js';
import { piecesOfText } from './text-pieces.js';

/** What one answer may bring; no model reads more, and a hostile answer must not hold up the others. */
const MAX_CHARS = 500_000;
const MAX_PIECES = 250;

/** How servers say in a sentence that they have no results. */
const NOTHING_FOUND =
  /^(?:sorry,? )?(?:(?:there (?:are|were) )?(?:no|0|zero) (?:\w+ ){0,2}(?:results?|matches|documents?|entries|hits|files)|nothing)\b.{0,80}$/i;

export interface AnswerPieces {
  readonly pieces: readonly Piece[];
  /** Whether something of the answer was left out because of its size. */
  readonly isCut: boolean;
}

/** Reads a result of `tools/call`: its content blocks and its structured content. */
export function piecesOfAnswer(result: JsonObject): AnswerPieces {
  const structured = result['structuredContent'];
  const structuredText = structured === undefined ? undefined : JSON.stringify(structured);
  const content = Array.isArray(result['content']) ? result['content'].filter(isJsonObject) : [];
  let left = MAX_CHARS;
  let isCut = false;
  const pieces: Piece[] = [];
  const readings = [
    ...(structured === undefined ? [] : [(): Reading => readStructured(structured, left)]),
    ...content
      .filter((block) => structuredText === undefined || !repeats(block, structuredText))
      .map((block) => () => readBlock(block, left)),
  ];
  for (const read of readings) {
    const reading = read();
    left -= reading.chars;
    isCut ||= reading.isCut;
    for (const piece of reading.pieces) {
      if (!NOTHING_FOUND.test(piece.text)) pieces.push(withDateOf(reading, piece));
    }
  }
  return {
    pieces: pieces.slice(0, MAX_PIECES),
    isCut: isCut || pieces.length > MAX_PIECES,
  };
}

interface Reading {
  readonly pieces: readonly Piece[];
  readonly chars: number;
  readonly isCut: boolean;
  readonly writtenAt?: number;
}
const nothing: Reading = { pieces: [], chars: 0, isCut: false };

function withDateOf({ writtenAt }: Reading, piece: Piece): Piece {
  return writtenAt === undefined ? piece : { writtenAt, ...piece };
}

function readStructured(value: JsonValue, left: number): Reading {
  const chars = JSON.stringify(value).length;
  return chars > left
    ? readText(JSON.stringify(value), left)
    : { pieces: piecesOfJson(value), chars, isCut: false };
}

/** Servers repeat their structured content, or the one text in it, as text for older clients. */
function repeats(block: JsonObject, structured: string): boolean {
  const text = textOf(block['text']);
  return /^\s*[[{]/.test(text) || structured.includes(JSON.stringify(text).slice(1, -1));
}

function readBlock(block: JsonObject, left: number): Reading {
  const writtenAt = dateOf(block);
  const date = writtenAt !== undefined && { writtenAt };
  switch (block['type']) {
    case 'text': {
      const text = textOf(block['text']);
      const json = jsonIn(text, left);
      if (json === undefined) return { ...readText(text, left), ...date };
      return { pieces: piecesOfJson(json), chars: text.length, isCut: false, ...date };
    }
    case 'resource': {
      const resource = isJsonObject(block['resource']) ? block['resource'] : {};
      if (typeof resource['text'] !== 'string') return nothing;
      const reading = readText(resource['text'], left);
      const url = resource['uri'];
      const pieces = reading.pieces.map((piece) =>
        typeof url === 'string' ? { ...piece, url } : piece,
      );
      return { ...reading, pieces, ...date };
    }
    case 'resource_link': {
      const { uri, name, title, description } = block;
      if (typeof uri !== 'string') return nothing;
      const lines = [title ?? name, description].filter((line) => typeof line === 'string');
      const text = lines.join('\n') || uri;
      return { pieces: [{ text, url: uri }], chars: text.length, isCut: false, ...date };
    }
    default:
      // Images and sound hold no text to rank.
      return nothing;
  }
}

function readText(text: string, left: number): Reading {
  const readable = text.slice(0, left).toWellFormed();
  return {
    pieces: piecesOfText(readable),
    chars: readable.length,
    isCut: readable.length < text.length,
  };
}

function jsonIn(text: string, left: number): JsonValue | undefined {
  if (text.length > left || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function dateOf(block: JsonObject): number | undefined {
  const annotations = isJsonObject(block['annotations']) ? block['annotations'] : {};
  const date = Date.parse(textOf(annotations['lastModified']));
  return Number.isNaN(date) ? undefined : date;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
