import { Logger } from '@nestjs/common';
import type { Clock } from './clock.js';

export interface CoalescerLimits {
  /** Minimum time between two actions of one key. */
  readonly firstMs: number;
  /** The interval doubles up to this while requests keep coming. */
  readonly maxMs: number;
  /** Maximum number of tracked keys; requests with further keys run at once. */
  readonly maxKeys: number;
}

/**
 * Rate limiter per key: the first request runs at once, later ones at most once per interval. A request within an
 * interval replaces the previous one in constant time; the last request of a burst is always followed by an action.
 */
export class Coalescer {
  private readonly logger = new Logger(Coalescer.name);
  private readonly keys = new Map<string, { pending: (() => void) | undefined }>();

  constructor(
    private readonly clock: Pick<Clock, 'sleep'>,
    private readonly limits: CoalescerLimits,
  ) {}

  run(key: string, action: () => void): void {
    const known = this.keys.get(key);
    if (known) {
      known.pending = action;
      return;
    }
    if (this.keys.size < this.limits.maxKeys) void this.follow(key);
    this.act(action);
  }

  private async follow(key: string): Promise<void> {
    const entry: { pending: (() => void) | undefined } = { pending: undefined };
    this.keys.set(key, entry);
    for (let ms = this.limits.firstMs; ; ms = Math.min(ms * 2, this.limits.maxMs)) {
      await this.clock.sleep(ms);
      const { pending } = entry;
      if (!pending) break;
      entry.pending = undefined;
      this.act(pending);
    }
    this.keys.delete(key);
  }

  private act(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.logger.error({ err: error }, 'listener.failed');
    }
  }
}
