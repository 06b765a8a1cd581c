import type { HttpAnswer } from '@app/http1';
import { backoffMs } from '@app/platform';
import { pauseBeforeStream, STREAM_WAIT } from './stream-pause.js';
import type { UpstreamRequest } from '../upstream-request.js';

/** A stream that was open this long counts as healthy and resets the backoff. */
const STEADY_MS = 10_000;

export interface StandingStreamHost {
  /** The session that a stream is opened in. */
  epoch(): number;
  /** The credentials that a stream is opened with. */
  credentials(): string | undefined;
  open(lastEventId: string | undefined): UpstreamRequest;
  /** False after a refusal that another attempt would get again. */
  mayOpenAgain(
    answer: HttpAnswer | undefined,
    sent: string | undefined,
    epoch: number,
  ): Promise<boolean>;
}

/** The GET stream for messages of the server outside of requests, kept open. Losing it does not end the session. */
export class StandingStream {
  private current: AbortController | undefined;

  constructor(
    private readonly host: StandingStreamHost,
    private readonly closing: AbortSignal,
  ) {}

  start(): void {
    if (this.current) return;
    const current = new AbortController();
    this.current = current;
    void this.keepOpen(current.signal).finally(() => {
      if (this.current === current) this.current = undefined;
    });
  }

  stop(): void {
    this.current?.abort();
    this.current = undefined;
  }

  private async keepOpen(signal: AbortSignal): Promise<void> {
    const { host, closing } = this;
    let lastEventId: string | undefined;
    for (let attempts = 1; !signal.aborted; attempts++) {
      const epoch = host.epoch();
      const openedAt = performance.now();
      const sent = host.credentials();
      const stream = host.open(lastEventId);
      const answer = await ended(stream, signal);
      if (signal.aborted) return;
      if (!(await host.mayOpenAgain(answer, sent, epoch))) return;
      const wasSteady = performance.now() - openedAt >= STEADY_MS;
      const hadEvents = stream.lastEventId !== undefined && stream.lastEventId !== lastEventId;
      if (stream.isStream && (wasSteady || hadEvents)) attempts = 1;
      lastEventId = host.epoch() === epoch ? (stream.lastEventId ?? lastEventId) : undefined;
      const waitMs = Math.max(backoffMs(attempts, STREAM_WAIT), stream.retryMs ?? 0);
      await pauseBeforeStream(waitMs, { leastMs: STREAM_WAIT.firstMs, closing });
    }
  }
}

/** Its answer if it was refused, or ended without an error. */
async function ended(
  stream: UpstreamRequest,
  signal: AbortSignal,
): Promise<HttpAnswer | undefined> {
  const abort = (): void => stream.abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await stream.done.catch(() => undefined);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
