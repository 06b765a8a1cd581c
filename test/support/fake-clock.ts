import { Clock } from '@app/platform';

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** A clock that tests advance. */
export class FakeClock extends Clock {
  private time = 1_000;
  private wall = Date.UTC(2026, 0, 1);
  private readonly sleepers = new Set<Sleeper>();

  override now(): Date {
    return new Date(this.wall + this.time);
  }

  override monotonic(): number {
    return this.time;
  }

  /** Sets the wall clock, as an administrator or NTP does; the monotonic clock is unaffected. */
  setBy(ms: number): void {
    this.wall += ms;
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.sleepers.delete(sleeper);
        reject(new Error('aborted'));
      };
      const sleeper = {
        until: this.time + ms,
        wake: (): void => {
          this.sleepers.delete(sleeper);
          signal?.removeEventListener('abort', stop);
          resolve();
        },
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener('abort', stop, { once: true });
      this.sleepers.add(sleeper);
    });
  }

  /** Milliseconds until the next timer; undefined without timers. */
  get nextWakeMs(): number | undefined {
    const due = [...this.sleepers].map((sleeper) => sleeper.until - this.time);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Advances time, fires due timers in order, and lets the work they start run as far as it can. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await settle();
    for (;;) {
      const [next] = [...this.sleepers].toSorted((a, b) => a.until - b.until);
      if (!next || next.until > end) break;
      this.time = Math.max(this.time, next.until);
      next.wake();
      await settle();
    }
    this.time = end;
    await settle();
  }
}

/** Runs pending microtasks. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
