import { randomUUID } from 'node:crypto';
import type { StatelessCall } from './stateless-call.js';

/** How long a client may take to answer what it was asked. */
export const ANSWER_WITHIN_MS = 600_000;
const MAX_SUSPENDED = 10_000;

/**
 * Calls of stateless clients that wait for an answer of the client. The client gets `input_required`
 * and a sealed state, and comes back with a new request that carries both; the call goes on where it stood.
 */
export class SuspendedCalls {
  private readonly calls = new Map<string, { call: StatelessCall; timer: NodeJS.Timeout }>();

  /** Returns what the call is called while it waits. */
  suspend(call: StatelessCall): string {
    const key = randomUUID();
    const timer = setTimeout(() => {
      this.calls.delete(key);
      call.abandon(new Error('the client did not come back with an answer'));
    }, ANSWER_WITHIN_MS);
    timer.unref();
    this.calls.set(key, { call, timer });
    if (this.calls.size > MAX_SUSPENDED) this.dropOldest();
    return key;
  }

  /** A call goes on once for each time it waited. */
  resume(key: string): StatelessCall | undefined {
    const entry = this.calls.get(key);
    clearTimeout(entry?.timer);
    this.calls.delete(key);
    return entry?.call;
  }

  closeAll(): void {
    for (const { call, timer } of this.calls.values()) {
      clearTimeout(timer);
      call.abandon(new Error('the service is stopping'));
    }
    this.calls.clear();
  }

  private dropOldest(): void {
    const [key, entry] = this.calls.entries().next().value ?? [];
    if (key === undefined || !entry) return;
    clearTimeout(entry.timer);
    this.calls.delete(key);
    entry.call.abandon(new Error('too many calls wait for their clients'));
  }
}
