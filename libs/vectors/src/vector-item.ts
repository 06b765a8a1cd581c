import { createHash } from 'node:crypto';
import type { VectorPayload } from './vector-index.js';

/**
 * A tool as the vector index should know it. Its text is written when it is asked for: there are many, and hardly
 * ever does one change.
 */
export class VectorItem {
  readonly fingerprint: string;

  constructor(
    readonly toolId: number,
    private readonly textOf: () => string,
    readonly payload: VectorPayload,
  ) {
    this.fingerprint = hash(this.textHash + JSON.stringify(payload)).toString('hex', 0, 16);
  }

  get text(): string {
    return this.textOf();
  }

  get textHash(): string {
    return hash(this.text).toString('hex');
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
