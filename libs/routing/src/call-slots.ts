import type { CatalogueServer } from '@app/discovery';
import { RequestTimedOut } from '@app/mcp';
import type { CancelSignal } from '@app/platform';
import { ServerOverloaded } from './routing.errors.js';

export interface SlotLimits {
  readonly running: number;
  readonly waiting: number;
}

interface Waiter {
  readonly go: () => void;
}

/** How many calls run on each server at once, and how many may wait for their turn. No server waits for another. */
export class CallSlots {
  /** One small entry a server, kept: made anew with every call it would cost more than it holds. */
  private readonly servers = new Map<string, { running: number; readonly waiting: Set<Waiter> }>();

  constructor(private readonly limits: SlotLimits) {}

  /** Takes a free slot, and says whether there was one. */
  take(serverId: string): boolean {
    const server = this.of(serverId);
    if (server.running >= this.limits.running) return false;
    server.running += 1;
    return true;
  }

  /** Waits for a slot and takes it. */
  wait(server: CatalogueServer, withinMs: number, signal: CancelSignal): Promise<void> {
    const { waiting } = this.of(server.id);
    if (waiting.size >= this.limits.waiting) throw new ServerOverloaded(server);
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const timer = setTimeout(() => {
        leave();
        reject(new RequestTimedOut('tools/call', withinMs));
      }, withinMs);
      const waiter: Waiter = {
        go: () => {
          leave();
          resolve();
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      waiting.add(waiter);
    });
  }

  /** Gives a slot back, to whoever waits the longest. */
  release(serverId: string): void {
    const server = this.of(serverId);
    const [next] = server.waiting;
    if (next) next.go();
    else server.running -= 1;
  }

  private of(serverId: string): { running: number; readonly waiting: Set<Waiter> } {
    let server = this.servers.get(serverId);
    if (!server) {
      server = { running: 0, waiting: new Set() };
      this.servers.set(serverId, server);
    }
    return server;
  }
}
