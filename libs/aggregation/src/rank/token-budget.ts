import { fairShare, tokenQuarters, tokensOf } from '@app/platform';
import { sentencesOf } from '../read/text-pieces.js';

/** Marks where text was cut. */
export const CUT_MARK = ' […]';

/**
 * Fits all texts into one budget: short texts stay whole, long ones are cut to one common length, the
 * largest that fits.
 */
export function withinBudget(texts: readonly string[], budget: number): string[] {
  const share = fairShare(texts.map(tokensOf), budget);
  return texts.map((text) => (tokensOf(text) <= share ? text : cutAtSentence(text, share)));
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
    quarters += tokenQuarters(part);
    if (quarters > 4 * tokens) break;
    kept += part;
  }
  return kept;
}
