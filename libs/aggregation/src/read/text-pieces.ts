import type { Piece, Pieces } from './passage.js';

/** Thirty pieces of this size fit into a model's context. */
const TARGET_CHARS = 1_000;
export const MAX_PIECE_CHARS = 1_500;
/** Shorter sections, such as a heading alone, are joined with the next one. */
const MIN_CHARS = 60;
/** Longer URLs are dropped: each piece of an answer would repeat them. */
export const MAX_URL_CHARS = 2_048;
/** Lines scanned per slice: about a millisecond. */
const LINES_AT_ONCE = 1_000;

const HEADING = /^#{1,6}\s+\S/;
const RULE = /^\s*([-*_=])(?:\s*\1){2,}\s*$/;
const FENCE = /^\s*(?:```|~~~)/;
/** White space without line breaks: otherwise matching takes quadratic time. */
const SOURCE_LINE =
  /^[^\S\n]*(?:\*\*)?(?:source|url|link|uri)(?:\*\*)?:\s{0,20}<?([a-z][a-z0-9+.-]*:\/\/\S+?)>?[^\S\n]*$/im;

/** Splits Markdown or plain text at headings and rules, then at paragraphs, then at sentences. */
export function piecesOfText(text: string): Piece[] {
  return [...textPieces(text)].filter((piece) => piece !== undefined);
}

/** Lazily, in slices. */
export function* textPieces(text: string): Pieces {
  let carried = '';
  for (const section of sectionsOf(text)) {
    if (section === undefined) {
      yield;
      continue;
    }
    const whole = carried ? `${carried}\n\n${section}` : section;
    carried = '';
    if (whole.length < MIN_CHARS) carried = whole;
    else yield* piecesOfSection(whole);
  }
  if (carried) yield* piecesOfSection(carried);
}

function* piecesOfSection(section: string): Pieces {
  const url = SOURCE_LINE.exec(section)?.[1];
  const source = url !== undefined && url.length <= MAX_URL_CHARS && { url };
  for (const text of packed(section)) yield text === undefined ? text : { text, ...source };
}

function* linesOf(text: string): Generator<string, undefined> {
  for (let start = 0; start <= text.length;) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? undefined : end);
    yield line.endsWith('\r') && end >= 0 ? line.slice(0, -1) : line;
    if (end < 0) break;
    start = end + 1;
  }
  return undefined;
}

/** From one heading or rule to the next, ignoring those in code. */
function* sectionsOf(text: string): Generator<string | undefined> {
  let section: string[] = [];
  let inCode = false;
  let previous = '';
  let count = 0;
  for (const line of linesOf(text)) {
    if (FENCE.test(line)) inCode = !inCode;
    const isRule = !inCode && previous.trim() === '' && RULE.test(line);
    if (isRule || (!inCode && HEADING.test(line))) {
      yield joined(section);
      section = [];
    }
    if (!isRule) section.push(line);
    previous = line;
    if (++count % LINES_AT_ONCE === 0) yield;
  }
  yield joined(section);
}

/** Undefined if the lines are blank. */
function joined(lines: readonly string[]): string | undefined {
  return lines.join('\n').trim() || undefined;
}

/** Joins paragraphs up to the target size; each piece repeats the heading of the section. */
function* packed(section: string): Generator<string | undefined> {
  if (section.length <= MAX_PIECE_CHARS) return yield section;
  const firstLine = linesOf(section).next().value ?? '';
  const heading = HEADING.test(firstLine) ? `${firstLine.slice(0, 200)}\n\n` : '';
  let before = '';
  let current = '';
  for (const block of blocksOf(section)) {
    if (block === undefined) {
      yield;
      continue;
    }
    if (current && current.length + block.length > TARGET_CHARS) {
      yield before + current;
      before = heading;
      current = '';
    }
    current = current ? `${current}\n\n${block}` : block;
  }
  if (current) yield before + current;
}

/** Paragraphs; code stays whole if it fits, longer paragraphs are split further. */
function* blocksOf(section: string): Generator<string | undefined> {
  let lines: string[] = [];
  let inCode = false;
  let count = 0;
  for (const line of linesOf(section)) {
    if (FENCE.test(line)) inCode = !inCode;
    if (line.trim() === '' && !inCode) {
      if (lines.length > 0) yield* fitting(lines);
      lines = [];
    } else lines.push(line);
    if (++count % LINES_AT_ONCE === 0) yield;
  }
  if (lines.length > 0) yield* fitting(lines);
}

function* fitting(lines: readonly string[]): Generator<string | undefined> {
  const block = lines.join('\n');
  if (block.length <= TARGET_CHARS) return yield block;
  const glue = lines.length > 1 ? '\n' : '';
  let current = '';
  for (const unit of unitsOf(lines)) {
    if (current && current.length + unit.length > TARGET_CHARS) {
      yield current;
      current = '';
    }
    current = current ? current + glue + unit : unit;
  }
  if (current) yield current;
}

/** Lines if they fit, else sentences, else parts of fixed length (such as base64). */
function* unitsOf(lines: readonly string[]): Generator<string> {
  for (const line of lines) {
    if (line.length <= TARGET_CHARS && lines.length > 1) yield* chopped(line);
    else for (const sentence of sentencesOf(line)) yield* chopped(sentence);
  }
}

function* chopped(unit: string): Generator<string> {
  for (let start = 0; start < unit.length; start += TARGET_CHARS) {
    yield unit.slice(start, start + TARGET_CHARS).toWellFormed();
  }
}

/** Intl.Segmenter takes quadratic time: 3 ms at most for this window, 13 s for a book. */
const WINDOW_CHARS = 2_000;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Joined, they are the text again. A sentence longer than the window is split. */
export function* sentencesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const window = text.slice(start, start + WINDOW_CHARS);
    const isLast = start + window.length === text.length;
    const found = Array.from(segmenter.segment(window), ({ segment }) => segment);
    // The last sentence may continue after the window.
    if (!isLast && found.length > 1) found.pop();
    for (const sentence of found) {
      yield sentence;
      start += sentence.length;
    }
  }
}
