import { ConnectFailed } from '../upstream.errors.js';

interface Limit {
  readonly ms: number;
  /** Why it failed at the deadline. */
  readonly reason: string;
  /** Aborted when the session is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with ConnectFailed when `work` takes longer, or is no longer wanted. The work itself continues. */
export async function inTime(work: Promise<void>, { ms, reason, signal }: Limit): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ConnectFailed(reason)), ms);
    stop = () => reject(unwanted());
    signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
    if (stop) signal?.removeEventListener('abort', stop);
  }
}

export function unwanted(): ConnectFailed {
  return new ConnectFailed('it is no longer wanted');
}
