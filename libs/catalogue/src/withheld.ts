import { z } from 'zod';

/**
 * Why a tool is not offered. Holds no text of the server: it is part of answers that models read, and the text may be
 * the reason why the tool is withheld.
 */
const withheldSchema = z.object({
  /** Hash of the definition that waits for approval. */
  hash: z.string(),
  /** False for a tool that changed after it was approved. */
  isNew: z.boolean(),
  /** Parts of the definition that differ from the approved one. */
  fields: z.array(z.string()),
  /** Codes of what was found in the change. */
  findings: z.array(z.string()),
});
export type Withheld = Readonly<z.infer<typeof withheldSchema>>;

export function readWithheld(stored: unknown): Withheld | null {
  return stored === null ? null : withheldSchema.parse(stored);
}

/** Both come from the same writer, so their members have one order. */
export function isSameWithheld(a: Withheld | null, b: Withheld | null): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
