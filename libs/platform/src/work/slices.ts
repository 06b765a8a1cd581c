import type { CancelSignal } from './cancellation.js';

/**
 * Long-running work as a generator: it yields wherever it may be interrupted, at least every few milliseconds, and
 * returns its result, which must not depend on when it is resumed.
 */
export type Sliced<T> = Generator<undefined, T, undefined>;

/** Maximum time per turn of the event loop, in milliseconds, for all such work together. */
const SLICE_MS = 10;

interface Job {
  /** Whether it has finished. */
  readonly goOn: (until: number) => boolean;
}

/** All work of this process shares one slice per turn of the event loop, round robin. */
const jobs: Job[] = [];

/** Runs the work without blocking the event loop. Rejects with the signal's reason when that is aborted. */
export function inSlices<T>(work: Sliced<T>, signal?: CancelSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const goOn = (until: number): boolean => {
      try {
        signal?.throwIfAborted();
        do {
          const step = work.next();
          if (step.done) {
            resolve(step.value);
            return true;
          }
        } while (performance.now() < until);
        return false;
      } catch (error) {
        reject(error instanceof Error ? error : new Error('the work was called off'));
        return true;
      }
    };
    if (jobs.push({ goOn }) === 1) setImmediate(takeTurn);
  });
}

/** Runs all the work now: for short work and for tests. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function takeTurn(): void {
  const until = performance.now() + SLICE_MS;
  do {
    const [job] = jobs;
    if (!job) return;
    const hasEnded = job.goOn(until);
    jobs.shift();
    if (!hasEnded) jobs.push(job);
  } while (performance.now() < until);
  if (jobs.length > 0) setImmediate(takeTurn);
}
