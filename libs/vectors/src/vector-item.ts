import { createHash } from 'node:crypto';
import type { VectorPayload } from './vector-index.js';

/** A tool as the vector index should know it. */
export interface VectorItem {
  readonly toolId: number;
  readonly text: string;
  readonly textHash: string;
  readonly payload: VectorPayload;
  readonly fingerprint: string;
}

export function vectorItem(toolId: number, text: string, payload: VectorPayload): VectorItem {
  const textHash = hash(text);
  return {
    toolId,
    text,
    textHash,
    payload,
    fingerprint: hash(textHash + JSON.stringify(payload)).slice(0, 32),
  };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
