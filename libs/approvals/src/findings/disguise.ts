/** Emoji have one variation selector; a row of them carries a text that is not shown. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3,}/u;
/** Words with letters of two alphabets look like words of one. */
const TWO_SCRIPTS =
  /\p{Script=Latin}[\p{Script=Cyrillic}αενορτυικ]|[\p{Script=Cyrillic}αενορτυικ]\p{Script=Latin}/u;
/** Spaced letters are read by models, and missed by searches. */
const SPACED = /(?:(?<!\S)\p{L} +){12,}/u;

/**
 * Controls other than tab and line breaks, direction overrides, zero-width marks, tags. Joiners and Arabic number signs
 * are none: scripts and emoji need them.
 */
const HIDDEN = /(?!\u200c|\u200d|[\t\n\r\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}]/u;

/** Of a JSON text, in which controls may be escaped. */
export function hasHiddenCharacters(json: string): boolean {
  return HIDDEN.test(json) || /\\u00(?:0[0-8bcef]|1|7f|8|9)/i.test(json);
}

/** Text that is written so that people or programs read something else than models do. */
export function disguiseIn(text: string): string | undefined {
  return (SELECTORS.exec(text) ?? TWO_SCRIPTS.exec(text) ?? SPACED.exec(text))?.[0];
}
