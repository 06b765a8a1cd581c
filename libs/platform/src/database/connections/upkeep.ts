import { Injectable } from '@nestjs/common';

/**
 * Runs the periodic comparisons with the rows one at a time. They come due at the same moment, and each would open a
 * connection to PostgreSQL that closes again before the next time.
 */
@Injectable()
export class Upkeep {
  private last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as the work does, whatever became of the work before it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}
