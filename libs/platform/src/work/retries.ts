import { Logger } from '@nestjs/common';
import type { Clock } from './clock.js';

interface Entry {
  readonly failures: number;
  readonly waiting: AbortController;
}

/** Repeats failed work with growing waits, per key: one wait of a key at a time, until the work stops failing. */
export class Retries {
  private readonly logger = new Logger(Retries.name);
  private readonly entries = new Map<string, Entry>();
  private isStopped = false;

  constructor(
    private readonly clock: Pick<Clock, 'sleep'>,
    /** Milliseconds after this many consecutive failures. */
    private readonly waitAfter: (failures: number) => number,
  ) {}

  /** After a failure: repeats `work` after the next wait, which it returns in milliseconds. */
  schedule(key: string, work: () => Promise<unknown>): number {
    const before = this.entries.get(key);
    before?.waiting.abort();
    const entry = { failures: (before?.failures ?? 0) + 1, waiting: new AbortController() };
    const waitMs = this.waitAfter(entry.failures);
    if (this.isStopped) return waitMs;
    this.entries.set(key, entry);
    void this.repeat(key, entry, waitMs, work);
    return waitMs;
  }

  /** Whether the last work failed and a repetition is scheduled or runs. */
  isWaiting(key: string): boolean {
    return this.entries.has(key);
  }

  /** After a success, or when the work is no longer needed. */
  clear(key: string): void {
    this.entries.get(key)?.waiting.abort();
    this.entries.delete(key);
  }

  stop(): void {
    this.isStopped = true;
    for (const key of [...this.entries.keys()]) this.clear(key);
  }

  private async repeat(
    key: string,
    entry: Entry,
    waitMs: number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await this.clock.sleep(waitMs, entry.waiting.signal);
    } catch {
      return; // cleared, or replaced by the wait after a later failure
    }
    try {
      await work();
    } catch (error) {
      this.logger.error({ err: error, key }, 'retry.failed');
    } finally {
      // Otherwise it failed again and is scheduled.
      if (this.entries.get(key) === entry) this.entries.delete(key);
    }
  }
}
