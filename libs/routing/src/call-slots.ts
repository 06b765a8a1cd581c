import type { CatalogueServer } from '@app/catalogue';
import { RequestTimedOut } from '@app/mcp-client';
import { type CancelSignal, FairQueue, type Line } from '@app/platform';
import { ServerOverloaded } from './routing.errors.js';

export interface SlotLimits {
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  readonly principal: string;
  isOver: boolean;
  go(slot: CallSlot): void;
}

/** A slot in use; must be released. */
export type CallSlot = Line<Waiter>;

/** One principal may use three quarters of the queue places that others leave free. */
const SHARE = 0.75;

/**
 * Concurrency limit and queue per server, for backpressure. Servers do not block each other, and no user takes all
 * slots or queue places (contract R52).
 */
export class CallSlots {
  /** One entry per server, never removed: creating one per call would cost more than keeping it. */
  private readonly servers = new Map<string, FairQueue<Waiter>>();

  constructor(private readonly limits: SlotLimits) {}

  /** Takes a free slot, if this principal may have one. */
  take(serverId: string, principal: string): CallSlot | undefined {
    return this.of(serverId).hold(principal);
  }

  /** Waits for a slot. */
  wait(
    server: CatalogueServer,
    principal: string,
    withinMs: number,
    signal: CancelSignal,
  ): Promise<CallSlot> {
    const queue = this.of(server.id);
    if (!this.hasPlace(queue, principal)) throw new ServerOverloaded(server);
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const giveUp = (error: Error): void => {
        leave();
        waiter.isOver = true;
        queue.prune();
        reject(error);
      };
      const abort = (): void =>
        giveUp(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      const late = (): void => giveUp(new RequestTimedOut('tools/call', withinMs, 'no'));
      const timer = setTimeout(late, withinMs);
      const waiter: Waiter = {
        principal,
        isOver: false,
        go: (slot) => {
          leave();
          resolve(slot);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      queue.add(waiter);
    });
  }

  /** Releases a slot; the next one goes to the user with the fewest. */
  release(serverId: string, slot: CallSlot): void {
    const queue = this.of(serverId);
    queue.release(slot);
    for (let next = queue.pick(); next; next = queue.pick()) queue.take(next)?.go(next);
  }

  private hasPlace(queue: FairQueue<Waiter>, principal: string): boolean {
    const own = queue.waitingOf(principal);
    const left = this.limits.waiting - (queue.waiting - own);
    return own < Math.max(Math.min(1, left), Math.floor(left * SHARE));
  }

  private of(serverId: string): FairQueue<Waiter> {
    let queue = this.servers.get(serverId);
    if (!queue) this.servers.set(serverId, (queue = new FairQueue(this.limits.running)));
    return queue;
  }
}
