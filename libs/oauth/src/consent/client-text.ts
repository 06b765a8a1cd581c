import { cutText } from '@app/platform';

/** What a client says of itself, for people and rows: without characters that could disguise it, and bounded. */
export function clientText(text: string, maxChars: number): string {
  const readable = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim();
  return cutText(readable.toWellFormed(), maxChars);
}
