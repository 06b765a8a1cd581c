import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

/** From here on, two definitions are one that was renamed. */
export const SAME_TEXT = 0.9;
/** Fewer words are alike by chance. */
const MIN_WORDS = 4;
const MAX_WORDS = 2_000;

/** The text of a definition by which a renamed one is recognised: all but its name and title. */
export function wordsOfText(definition: JsonObject): ReadonlyMap<string, number> {
  const { description, inputSchema, arguments: ofPrompt } = definition;
  const text: string[] = [];
  collect(description ?? null, text);
  collect(inputSchema ?? null, text);
  collect(ofPrompt ?? null, text);
  const words =
    text
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const counts = new Map<string, number>();
  for (const word of words.slice(0, MAX_WORDS)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Shared words of all words, 0 to 1, each as often as it occurs (the Sørensen–Dice coefficient). */
export function similarity(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const total = sizeOf(a) + sizeOf(b);
  if (Math.min(sizeOf(a), sizeOf(b)) < MIN_WORDS) return 0;
  let shared = 0;
  for (const [word, count] of a) shared += Math.min(count, b.get(word) ?? 0);
  return (2 * shared) / total;
}

function sizeOf(words: ReadonlyMap<string, number>): number {
  let size = 0;
  for (const count of words.values()) size += count;
  return size;
}

function collect(value: JsonValue, text: string[]): void {
  if (typeof value === 'string') text.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, text);
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      text.push(key);
      collect(item, text);
    }
  }
}
