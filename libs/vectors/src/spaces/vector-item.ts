import { hash as hashOnce } from 'node:crypto';
import type { VectorPayload } from '../indexes/vector-index.js';

/** Of a fingerprint: those of items with the same text have the same beginning. */
export const TEXT_CHARS = 16;

/**
 * A tool as it is written to the vector index. The text is built on demand, because few of 100,000 tools
 * change at a time.
 */
export class VectorItem {
  private known: string | undefined;

  constructor(
    readonly toolId: number,
    private readonly textOf: () => string,
    readonly payload: VectorPayload,
  ) {}

  /** Of the text and, after TEXT_CHARS of it, of the payload. */
  get fingerprint(): string {
    return (this.known ??=
      this.textHash.slice(0, TEXT_CHARS) +
      hash(JSON.stringify(this.payload)).toString('hex', 0, 8));
  }

  get text(): string {
    return this.textOf();
  }

  get textHash(): string {
    return hash(this.text).toString('hex');
  }
}

function hash(text: string): Buffer {
  return hashOnce('sha256', text, 'buffer');
}
