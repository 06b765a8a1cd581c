import { sentencesOf } from '../read/text-pieces.js';

/** Marks where text was cut. */
export const CUT_MARK = ' […]';

/** An estimate: four Latin characters, or one other character, are a token. */
export function tokensOf(text: string): number {
  return Math.ceil(quartersOf(text) / 4);
}

function quartersOf(text: string): number {
  let quarters = 0;
  for (let i = 0; i < text.length; i++) quarters += text.charCodeAt(i) < 0x2e80 ? 1 : 4;
  return quarters;
}

/**
 * Fits all texts into one budget: short texts stay whole, long ones are cut to one common length, the
 * largest that fits.
 */
export function withinBudget(texts: readonly string[], budget: number): string[] {
  const share = fairShare(texts.map(tokensOf), budget);
  return texts.map((text) => (tokensOf(text) <= share ? text : cutAtSentence(text, share)));
}

function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [i, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - i));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}

/** Cut after a sentence, or after a word if the first sentence does not fit. */
function cutAtSentence(text: string, tokens: number): string {
  const room = tokens - tokensOf(CUT_MARK);
  const kept = longestStart(sentencesOf(text), room) || longestStart(text.split(/(?<=\s)/), room);
  return `${kept || text.slice(0, Math.max(0, room))}`.trimEnd().toWellFormed() + CUT_MARK;
}

function longestStart(parts: Iterable<string>, tokens: number): string {
  let kept = '';
  let quarters = 0;
  for (const part of parts) {
    quarters += quartersOf(part);
    if (quarters > 4 * tokens) break;
    kept += part;
  }
  return kept;
}
