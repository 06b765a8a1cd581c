import { Injectable } from '@nestjs/common';

/** Time as a dependency, so that rules about time are tested without waiting. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
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

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted');
}
