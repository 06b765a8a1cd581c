import { coloured, type Screen, visible } from './screen.js';

const GAP = '  ';
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** East Asian characters and emoji take two columns. */
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation}|\uFE0F/u;

/** Formats rows with headings and aligned columns; lines end at the edge of the terminal. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  screen: Screen,
): string {
  const cells = [headings, ...rows].map((row) => row.map(oneLine));
  const widths = headings.map((_, i) => Math.max(...cells.map((row) => widthOf(row[i] ?? ''))));
  return cells.map((row) => lineOf(row, widths, screen)).join('\n');
}

/** Names and values below each other; values may have several lines. */
export function fields(pairs: readonly (readonly [string, string | null | undefined])[]): string {
  const present = pairs.filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const width = Math.max(0, ...present.map(([name]) => name.length));
  const margin = ' '.repeat(width + GAP.length);
  return present
    .map(
      ([name, value]) =>
        name.padEnd(width) + GAP + visible(value ?? '').replaceAll('\n', `\n${margin}`),
    )
    .join('\n');
}

function lineOf(row: readonly string[], widths: readonly number[], screen: Screen): string {
  let left = screen.columns ?? Number.POSITIVE_INFINITY;
  const last = row.findLastIndex((cell) => cell !== '');
  let line = '';
  for (const [i, cell] of row.slice(0, last + 1).entries()) {
    const text = cut(cell, left);
    const padding = i === last ? '' : ' '.repeat((widths[i] ?? 0) - widthOf(cell)) + GAP;
    line += coloured(cell, text, screen) + padding.slice(0, Math.max(0, left - widthOf(text)));
    left -= widthOf(text) + padding.length;
    if (left <= 0) break;
  }
  return line;
}

function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim());
}

export function widthOf(text: string): number {
  if (/^[\u0020-\u007E]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** The text, or as much of it as fits before an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let taken = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
    if (width > columns - 1) break;
    taken += segment;
  }
  return columns < 1 ? '' : `${taken}…`;
}
