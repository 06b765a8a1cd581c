import { Clock } from '@app/platform';

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** Time that passes only when told to. */
export class FakeClock extends Clock {
  private time = Date.UTC(2026, 0, 1);
  private readonly sleepers = new Set<Sleeper>();

  override now(): Date {
    return new Date(this.time);
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

  /** Milliseconds until somebody wakes; undefined when nobody sleeps. */
  get nextWakeMs(): number | undefined {
    const due = [...this.sleepers].map((sleeper) => sleeper.until - this.time);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  /** Wakes everybody whose time comes, in order, and lets what they start go as far as it can. */
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

/** All promises that are already decided have been acted upon. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
