import { backoffMs, boundedText, Clock, connectionProblem, product, TooLong } from '@app/platform';
import { z } from 'zod';
import { ModelRequestFailed } from './llm.errors.js';

export interface ModelEndpoint {
  readonly url: string;
  /** Such as the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of one attempt, until the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

export interface ModelRequestOptions {
  /** When the endpoint is busy, fails, or cannot be reached. */
  readonly retries: number;
  readonly signal?: AbortSignal | undefined;
}

const WAITS = { firstMs: 500, longestMs: 8_000 };
/** Waits are shortened by up to this share, so that clients of a busy endpoint do not return together. */
const JITTER = 0.25;
/** An endpoint that asks for a longer wait is not asked again: callers have queues of their own. */
const LONGEST_ASKED_WAIT_MS = 60_000;
const RETRYABLE = new Set([408, 409, 429]);
const UNREADABLE = 'its answer cannot be read';

/**
 * Requests to a hosted model, as JSON over HTTP. The SDKs of the providers are not used: they were almost a quarter of
 * all files of an installation (docs/decisions/0800). Redirects are not followed, because they would get the key.
 */
export class ModelRequests {
  private readonly host: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    private readonly endpoint: ModelEndpoint,
    private readonly clock: Pick<Clock, 'now' | 'sleep'> = new Clock(),
    private readonly random: () => number = Math.random,
  ) {
    this.host = new URL(endpoint.url).host;
    this.headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': `switchboard/${product.version}`,
      ...endpoint.headers,
    };
  }

  /** The answer as `schema` reads it. Throws ModelRequestFailed. */
  async post<T>(
    body: object,
    schema: z.ZodType<T>,
    { retries, signal }: ModelRequestOptions,
  ): Promise<T> {
    const sent = JSON.stringify(body);
    for (let failures = 1; ; failures++) {
      try {
        return readAs(await this.answerTo(sent, signal), schema);
      } catch (error) {
        const waitMs = failures > retries ? undefined : this.waitAfter(error, failures);
        if (waitMs === undefined || !(await this.hasWaited(waitMs, signal))) throw error;
      }
    }
  }

  /** Undefined if another attempt would fail as well. */
  private waitAfter(error: unknown, failures: number): number | undefined {
    if (!(error instanceof ModelRequestFailed) || !error.retry) return undefined;
    const { afterMs } = error.retry;
    if (afterMs === undefined) return backoffMs(failures, WAITS) * (1 - JITTER * this.random());
    return afterMs > LONGEST_ASKED_WAIT_MS ? undefined : afterMs;
  }

  /** False if the caller did not want to wait so long. */
  private async hasWaited(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return this.clock.sleep(ms, signal).then(
      () => true,
      () => false,
    );
  }

  private async answerTo(body: string, signal: AbortSignal | undefined): Promise<string> {
    const { url, timeoutMs, maxAnswerBytes } = this.endpoint;
    const timeout = AbortSignal.timeout(timeoutMs);
    let begun = 'it cannot be reached';
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: this.headers,
        body,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      begun = 'its answer broke off';
      if (answer.ok) return await boundedText(answer.body, this.host, maxAnswerBytes);
      // Its text may repeat the key.
      await answer.body?.cancel();
      throw refusal(answer, this.clock.now());
    } catch (error) {
      if (error instanceof ModelRequestFailed) throw error;
      if (error instanceof TooLong) {
        throw new ModelRequestFailed(`its answer has more than ${maxAnswerBytes} bytes`);
      }
      // Ended by the caller: there is no time for another attempt.
      if (signal?.aborted) throw new ModelRequestFailed('it did not answer in time');
      if (timeout.aborted) throw new ModelRequestFailed('it did not answer in time', {});
      const problem = connectionProblem(error instanceof Error ? error.cause : undefined);
      throw new ModelRequestFailed(problem === undefined ? begun : `${begun}: ${problem}`, {});
    }
  }
}

/** `base` may have the path already, a slash at its end, and a query. */
export function endpointUrl(base: string, path: string): string {
  const url = new URL(base);
  const given = url.pathname.replace(/\/+$/, '');
  url.pathname = given.endsWith(path) ? given : given + path;
  return url.href;
}

/** Without the text of the answer in what it throws. */
export function readAs<T>(json: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new ModelRequestFailed(UNREADABLE);
  }
  const read = schema.safeParse(value);
  if (!read.success) throw new ModelRequestFailed(UNREADABLE);
  return read.data;
}

function refusal({ status, headers }: Response, now: Date): ModelRequestFailed {
  const reason = `it answered HTTP ${status}`;
  const said = headers.get('x-should-retry');
  const mayRetry =
    said === 'true' || (said !== 'false' && (RETRYABLE.has(status) || status >= 500));
  if (!mayRetry) return new ModelRequestFailed(reason);
  return new ModelRequestFailed(reason, { afterMs: askedWaitMs(headers, now) });
}

/** What the endpoint says that a client should wait; undefined if it says nothing that is a time to come. */
function askedWaitMs(headers: Headers, now: Date): number | undefined {
  const after = headers.get('retry-after') ?? '';
  const waits = [
    Number(headers.get('retry-after-ms') ?? NaN),
    Number(after) * 1_000,
    Date.parse(after) - now.getTime(),
  ];
  return waits.find((ms) => ms > 0);
}
