import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import { LruMap } from '../authenticate/lru-map.js';

/** Callers with a count; the least recently used is dropped first. */
const MAX_COUNTED = 10_000;

interface CountingWindow {
  readonly since: number;
  requests: number;
}

type Counted = (error: Error | null, result?: { current: number; ttl: number }) => void;

/**
 * Requests per caller in the current window, by a monotonic clock. The store of @fastify/rate-limit uses the
 * time of day: a clock set back by an hour extends a limit by an hour, one set forward lifts all limits.
 */
export class RequestCounts implements FastifyRateLimitStore {
  private readonly windows = new LruMap<CountingWindow>(MAX_COUNTED);

  constructor(
    _options: object = {},
    private readonly now: () => number = () => performance.now(),
  ) {}

  incr(caller: string, counted: Counted, windowMs: number): void {
    const now = this.now();
    let window = this.windows.get(caller);
    if (!window || now - window.since >= windowMs) {
      window = { since: now, requests: 0 };
      this.windows.set(caller, window);
    }
    window.requests++;
    counted(null, { current: window.requests, ttl: windowMs - (now - window.since) });
  }

  /** A separate store for another limit. */
  child(): RequestCounts {
    return new RequestCounts({}, this.now);
  }
}
