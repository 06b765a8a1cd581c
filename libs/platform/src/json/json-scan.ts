import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedFolder } from '../files/installed-folder.js';

/** Memory layout of scan.wat. */
const STATE = 32 / 4;
const DEPTH = 36 / 4;
const NOTES_END = 40 / 4;
const VALUES = 44 / 4;
const DEEPEST = 48 / 4;
const PIECE = 16_384;
const NOTES = 49_408 / 4;
const NOTE_WORDS = 4;
/** Bytes scanned per call. */
const PIECE_BYTES = 32_768;
/** The state after a complete JSON text. */
const COMPLETE = 6;
const IN_STRING = 7;
const IN_ESCAPE = 9;
const SPACE = 0x20;
const MAX_DEPTH = 10_000;
/** Scanning more values than this would block the event loop for too long. */
const MAX_VALUES = 1_000_000;
/** Limit for nested members; beyond it only the outermost are noted. */
const MAX_NOTES = 100_000;
/** Items noted of an outermost array. */
export const MAX_NOTED_ITEMS = 1_024;

/** Why a text is not JSON. */
export class JsonFault {
  constructor(
    /** Byte offset from the start of the text. */
    readonly offset: number,
    private readonly what: string,
  ) {}

  get message(): string {
    return `${this.what} at byte ${this.offset}`;
  }
}

/** Four numbers per noted value: start of its key (-1 in an array), start, end, depth. */
export type JsonNotes = number[] | Int32Array;

interface Scanner {
  /** The memory of the module as bytes, and as 32-bit integers. */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  begin(noted: number): void;
  /** From here on, only members down to this depth are noted. */
  noteOnly(noted: number): void;
  scan(at: number, end: number, base: number): number;
}

let loaded: Scanner | undefined;

/**
 * Validates a JSON text in WebAssembly without building a value: three times as fast as `JSON.parse` on a small text
 * and up to twenty times on a large one (docs/decisions/0705). Returns the positions of members down to the depth
 * `noted` (at most 3) and, of an outermost array, of the first 1,024 items. Accepts the same texts as `JSON.parse`, up
 * to 10,000 levels and 1,000,000 values.
 */
export function scanJson(text: Buffer, noted: 0 | 1 | 2 | 3): JsonNotes | JsonFault {
  const scanner = (loaded ??= load());
  const { bytes, words } = scanner;
  if (!isUtf8(text)) return notUtf8(text);
  scanner.begin(noted);
  areAllNoted = true;
  if (text.length < PIECE_BYTES) {
    bytes.set(text, PIECE);
    // The space terminates a number; a complete text is not affected.
    bytes[PIECE + text.length] = SPACE;
    const wrong = scanner.scan(PIECE, PIECE + text.length + 1, -PIECE);
    if (wrong >= 0 || words[STATE] !== COMPLETE) return faultAt(text, wrong - PIECE, words);
    return fewNotes(words);
  }
  const notes = new ManyNotes();
  for (let start = 0; start < text.length; start += PIECE_BYTES) {
    const end = Math.min(text.length, start + PIECE_BYTES);
    bytes.set(text.subarray(start, end), PIECE);
    const wrong = scanner.scan(PIECE, PIECE + end - start, start - PIECE);
    if (wrong >= 0) return faultAt(text, start + wrong - PIECE, words);
    if ((words[VALUES] ?? 0) > MAX_VALUES) return new JsonFault(end, 'more than 1,000,000 values');
    notes.add(words);
    if (areAllNoted && notes.count > MAX_NOTES) {
      areAllNoted = false;
      scanner.noteOnly(1);
    }
  }
  bytes[PIECE] = SPACE;
  scanner.scan(PIECE, PIECE + 1, text.length - PIECE);
  if (words[STATE] !== COMPLETE) return faultAt(text, text.length, words);
  return notes.all;
}

/** Notes of the first outermost members of a text that is known to be JSON; at least this many, if it has them. */
export function firstNotes(json: Buffer, members: number): JsonNotes {
  const scanner = (loaded ??= load());
  const { bytes, words } = scanner;
  scanner.begin(1);
  if (json.length < PIECE_BYTES) {
    bytes.set(json, PIECE);
    scanner.scan(PIECE, PIECE + json.length, -PIECE);
    return fewNotes(words);
  }
  const notes = new ManyNotes();
  for (let start = 0; start < json.length && notes.count < members; start += PIECE_BYTES) {
    const end = Math.min(json.length, start + PIECE_BYTES);
    bytes.set(json.subarray(start, end), PIECE);
    scanner.scan(PIECE, PIECE + end - start, start - PIECE);
    notes.add(words);
  }
  return notes.all;
}

let areAllNoted = true;

/** Of the last scanned text: its values, its depth, and whether the notes have all members down to the depth asked for. */
export function lastScanned(): {
  readonly values: number;
  readonly depth: number;
  readonly areAllNoted: boolean;
} {
  const { words } = loaded ?? {};
  return { values: words?.[VALUES] ?? 0, depth: words?.[DEEPEST] ?? 0, areAllNoted };
}

function load(): Scanner {
  const file = join(installedFolder('libs/platform/json', import.meta.url), 'scan.wasm');
  const { memory, begin, noteOnly, scan } = new WebAssembly.Instance(
    new WebAssembly.Module(readFileSync(file)),
  ).exports;
  if (
    !(memory instanceof WebAssembly.Memory) ||
    typeof begin !== 'function' ||
    typeof noteOnly !== 'function' ||
    typeof scan !== 'function'
  ) {
    throw new Error(`${file} is not the module that build.mjs writes`);
  }
  return {
    bytes: new Uint8Array(memory.buffer),
    words: new Int32Array(memory.buffer),
    begin: begin as Scanner['begin'],
    noteOnly: noteOnly as Scanner['noteOnly'],
    scan: scan as Scanner['scan'],
  };
}

function notesEnd(words: Int32Array): number {
  return (words[NOTES_END] ?? 0) / 4;
}

function fewNotes(words: Int32Array): JsonNotes {
  const end = notesEnd(words);
  const notes: number[] = [];
  for (let i = NOTES; i < end; i++) notes.push(words[i] ?? 0);
  return notes;
}

/** Collects the notes of successive pieces. */
class ManyNotes {
  private notes = new Int32Array(64);
  private size = 0;

  get count(): number {
    return this.size / NOTE_WORDS;
  }

  get all(): JsonNotes {
    return this.notes.subarray(0, this.size);
  }

  add(words: Int32Array): void {
    const end = notesEnd(words);
    this.reserve(end - NOTES);
    this.notes.set(words.subarray(NOTES, end), this.size);
    this.size += end - NOTES;
  }

  private reserve(added: number): void {
    const size = this.size + added;
    if (size > this.notes.length) {
      const larger = new Int32Array(Math.max(size, this.notes.length * 2));
      larger.set(this.notes);
      this.notes = larger;
    }
  }
}

const TOKEN = /^[^\s,:[\]{}"]{1,20}/;

function faultAt(text: Buffer, offset: number, words: Int32Array): JsonFault {
  if ((words[DEPTH] ?? 0) > MAX_DEPTH) {
    return new JsonFault(offset, `more than ${MAX_DEPTH} brackets inside each other`);
  }
  if (offset < 0 || offset >= text.length) return new JsonFault(text.length, 'the end of the text');
  if (isInString(words)) return new JsonFault(offset, nameOf(text[offset] ?? 0));
  let start = offset;
  while (start > 0 && offset - start < 20 && /[\w.+-]/.test(charAt(text, start - 1))) start--;
  const token = TOKEN.exec(text.toString('latin1', start, offset + 20))?.[0];
  // NaN, Infinity, 0x1F, True: quoted completely, because they identify what wrote them.
  return token !== undefined && /^[\w.+-]+$/.test(token)
    ? new JsonFault(start, token)
    : new JsonFault(offset, nameOf(text[offset] ?? 0));
}

function isInString(words: Int32Array): boolean {
  const state = words[STATE] ?? 0;
  return state >= IN_STRING && state <= IN_ESCAPE;
}

function charAt(text: Buffer, at: number): string {
  return String.fromCharCode(text[at] ?? 0);
}

function nameOf(byte: number): string {
  return byte > SPACE && byte < 0x7f
    ? `an unexpected ${JSON.stringify(String.fromCharCode(byte))}`
    : `an unexpected byte 0x${byte.toString(16).padStart(2, '0')}`;
}

const REPLACEMENT = '\ufffd';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);

/** The first byte that decoding would replace. */
function notUtf8(text: Buffer): JsonFault {
  const decoded = text.toString();
  let offset = 0;
  for (let from = 0; ; from++) {
    const at = decoded.indexOf(REPLACEMENT, from);
    offset += Buffer.byteLength(decoded.slice(from, at));
    const isMeant = text.subarray(offset, offset + 3).equals(REPLACEMENT_BYTES);
    if (!isMeant) return new JsonFault(offset, 'a byte that is not UTF-8');
    offset += REPLACEMENT_BYTES.length;
    from = at;
  }
}
