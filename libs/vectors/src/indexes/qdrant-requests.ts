import { boundedText } from '@app/platform';
import { z } from 'zod';

export interface QdrantSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
}

const TIMEOUT_MS = 5_000;
/** A page of 1,000 keys and fingerprints has 300 kB. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;

/** Qdrant refused a request. Without its message, which may repeat the request. */
export class QdrantRefused extends Error {
  constructor(readonly status: number) {
    super(`Qdrant answered HTTP ${status}`);
    this.name = new.target.name;
  }
}

/**
 * Requests to one collection by Qdrant's REST API. Its own client is not used, because it installs a TypeScript compiler
 * (docs/decisions/0800).
 */
export class QdrantRequests {
  private readonly base: string;
  private readonly host: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor({ url, apiKey }: QdrantSettings, collection: string) {
    this.base = `${url.replace(/\/+$/, '')}/collections/${encodeURIComponent(collection)}`;
    this.host = new URL(url).host;
    this.headers = {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { 'api-key': apiKey }),
    };
  }

  /** The `result` of the answer. */
  async ask<T>(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    result: z.ZodType<T>,
    body?: object,
  ): Promise<T> {
    const answer = await fetch(this.base + path, {
      method,
      headers: this.headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new QdrantRefused(answer.status);
    }
    const parsed: unknown = JSON.parse(await boundedText(answer.body, this.host, MAX_ANSWER_BYTES));
    return z.object({ result }).parse(parsed).result;
  }
}
