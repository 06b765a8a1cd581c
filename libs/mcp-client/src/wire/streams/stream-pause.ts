/** Waits before a stream is opened again. */
export const STREAM_WAIT = { firstMs: 1_000, longestMs: 30_000 };

/** Waits `ms`, which a server may have chosen, within bounds; returns early when the wire is closed. */
export function pauseBeforeStream(
  ms: number,
  { leastMs, closing }: { readonly leastMs: number; readonly closing: AbortSignal },
): Promise<void> {
  if (closing.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      closing.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(Math.max(ms, leastMs), STREAM_WAIT.longestMs)).unref();
    closing.addEventListener('abort', end);
  });
}
