import { createHash } from 'node:crypto';
import type { VectorPayload } from '../indexes/vector-index.js';

/**
 * A tool as it is written to the vector index. The text is built on demand, because few of 100,000 tools
 * change at a time.
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
