import { type Nesting, unitSize, writtenSize } from './written-size.js';

/** Of the room, the part of the beginning. */
const HEAD = 0.6;
/** Less is not worth its mark. */
const MIN_ROOM = 80;
/** A border is looked for this far from the place where the room ends: Intl.Segmenter takes quadratic time. */
const WINDOW_CHARS = 2_000;
/** Read beyond that place, to see whether a sentence ends there. */
const LOOK_AHEAD_CHARS = 100;
/** A border that gives up more than this part of the room is too far away. */
const MAX_LOSS = 0.5;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * The beginning and the end of a text, cut at sentences, else at words, else between characters, with a mark that says
 * how much is missing. Undefined if the room is too small for that. Sizes are quarters of tokens as written.
 */
export function endsOfText(text: string, room: number, nesting: Nesting): string | undefined {
  const left = room - writtenSize(markOf(text.length), nesting);
  if (left < MIN_ROOM) return undefined;
  const headEnd = headWithin(text, left * HEAD, nesting);
  const head = text.slice(0, headEnd).trimEnd();
  const tailStart = tailWithin(text, left - writtenSize(head, nesting), headEnd, nesting);
  const tail = text.slice(tailStart).trimStart();
  return `${head}${markOf(text.length - head.length - tail.length)}${tail}`.toWellFormed();
}

function markOf(chars: number): string {
  return `\n[… ${chars} characters left out …]\n`;
}

/** The end of the beginning. */
function headWithin(text: string, room: number, nesting: Nesting): number {
  let size = 0;
  let end = 0;
  for (; end < text.length; end++) {
    size += unitSize(text.charCodeAt(end), nesting);
    if (size > room) break;
  }
  const from = Math.max(0, end - WINDOW_CHARS);
  const earliest = Math.max(from, Math.ceil(end * (1 - MAX_LOSS)));
  const window = text.slice(from, end + LOOK_AHEAD_CHARS);
  const fits = (border: number): boolean => border <= end && border >= earliest;
  return (
    last(bordersIn(sentences, window, from), fits) ??
    last(wordBorders(window, from), fits) ??
    last(bordersIn(graphemes, window, from), (border) => border <= end) ??
    end
  );
}

/** The start of the end, at `from` or later. */
function tailWithin(text: string, room: number, from: number, nesting: Nesting): number {
  let size = 0;
  let start = text.length;
  for (; start > from; start--) {
    size += unitSize(text.charCodeAt(start - 1), nesting);
    if (size > room) break;
  }
  const latest = start + (text.length - start) * MAX_LOSS;
  const windowStart = Math.max(0, start - LOOK_AHEAD_CHARS);
  const window = text.slice(windowStart, start + WINDOW_CHARS);
  const fits = (border: number): boolean => border >= start && border <= latest;
  return (
    bordersIn(sentences, window, windowStart).find(fits) ??
    wordBorders(window, windowStart).find(fits) ??
    bordersIn(graphemes, window, windowStart).find((border) => border >= start) ??
    start
  );
}

/** The starts of the segments but for the first, which may be a part of one. */
function bordersIn(segmenter: Intl.Segmenter, window: string, from: number): number[] {
  return Array.from(segmenter.segment(window), ({ index }) => from + index).slice(1);
}

function wordBorders(window: string, from: number): number[] {
  return Array.from(window.matchAll(/\s(?=\S)/g), ({ index }) => from + index + 1);
}

function last(borders: readonly number[], fits: (border: number) => boolean): number | undefined {
  return borders.findLast(fits);
}
