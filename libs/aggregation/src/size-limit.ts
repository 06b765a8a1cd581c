import { sentencesOf } from './text-pieces.js';

/** Stands where text was left out. */
export const CUT_MARK = ' […]';

/** About what models count: four Latin characters a token, one of the others. */
export function tokensOf(text: string): number {
  let quarters = 0;
  for (let i = 0; i < text.length; i++) quarters += text.charCodeAt(i) < 0x2e80 ? 1 : 4;
  return Math.ceil(quarters / 4);
}

/**
 * Makes texts fit into a budget together: short ones stay whole, long ones are cut to one common
 * length, the largest with which all of them fit.
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

/** Whole sentences from the start, or whole words when not even the first sentence fits. */
function cutAtSentence(text: string, tokens: number): string {
  const room = tokens - tokensOf(CUT_MARK);
  const kept = longestStart(sentencesOf(text), room) || longestStart(text.split(/(?<=\s)/), room);
  return `${kept || text.slice(0, Math.max(0, room))}`.trimEnd().toWellFormed() + CUT_MARK;
}

function longestStart(parts: readonly string[], tokens: number): string {
  let kept = '';
  for (const part of parts) {
    if (tokensOf(kept + part) > tokens) break;
    kept += part;
  }
  return kept;
}
