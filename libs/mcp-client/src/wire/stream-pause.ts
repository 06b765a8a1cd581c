import { setTimeout as sleep } from 'node:timers/promises';

/** Waits before a stream is opened again. */
export const STREAM_WAIT = { firstMs: 1_000, longestMs: 30_000 };

/** Waits `ms`, which a server may have chosen, within bounds; returns early when the wire is closed. */
export async function pauseBeforeStream(
  ms: number,
  { leastMs, closing }: { readonly leastMs: number; readonly closing: AbortSignal },
): Promise<void> {
  const waitMs = Math.min(Math.max(ms, leastMs), STREAM_WAIT.longestMs);
  await sleep(waitMs, undefined, { signal: closing, ref: false }).catch(() => undefined);
}
