import { Injectable } from '@nestjs/common';

/** Time as a dependency, so that rules about time are tested without waiting. */
@Injectable()
export class Clock {
  /** Wall-clock time: for timestamps that are shown or stored, and for expiry set by others. It may jump either way. */
  now(): Date {
    return new Date();
  }

  /** Monotonic milliseconds: for durations, deadlines and ages within this process. */
  monotonic(): number {
    return performance.now();
  }

  /** Resolves after `ms`, or rejects with the signal's reason. The timer never keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(reasonOf(signal));
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      timer.unref();
      function stop(): void {
        clearTimeout(timer);
        reject(reasonOf(signal));
      }
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}

/** The result of `work`, or undefined when it takes longer than `ms`; `work` is not cancelled. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, clock.sleep(ms).then(() => undefined)]);
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted');
}
