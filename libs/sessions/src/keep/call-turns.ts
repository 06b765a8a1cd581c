import type { Clock } from '@app/platform';

/** Attempts that calls cause start at most this often for one server (contract R41). */
const EVERY_MS = 1_000;

/** Spaces the attempts that calls cause: the first starts at once, the next one waits for its turn. */
export class CallTurns {
  /** Monotonic time. */
  private lastAt = Number.NEGATIVE_INFINITY;
  private coming: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly life: AbortSignal,
  ) {}

  /** Resolves at the next turn, the same one for all who wait; rejects at the end of the server's life. */
  next(): Promise<void> {
    this.coming ??= this.take().finally(() => {
      this.coming = undefined;
    });
    return this.coming;
  }

  private async take(): Promise<void> {
    const wait = this.lastAt + EVERY_MS - this.clock.monotonic();
    if (wait > 0) await this.clock.sleep(wait, this.life);
    this.lastAt = this.clock.monotonic();
  }
}
