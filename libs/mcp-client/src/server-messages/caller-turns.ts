import type { CancelSignal } from '@app/platform';
import { RequestCancelled, ServerBusyWithOthers } from '../upstream.errors.js';
import type { RequestCaller } from '../upstream.js';

interface Waiter {
  readonly caller: RequestCaller;
  start(): void;
}

interface Work<T> {
  /** Work to do while no other client is served; undefined when there is none. */
  prepare(): Promise<void> | undefined;
  /** Has to register a running call synchronously. */
  start(): Promise<T>;
}

interface Patience {
  readonly withinMs: number;
  readonly signal: CancelSignal | undefined;
}

/**
 * Serialises the calls of a server by client. Where a server sends requests outside of any exchange, they name no
 * call, so only one client may have running calls (contract R51).
 */
export class CallerTurns {
  private readonly waiting: Waiter[] = [];
  /** The clients of calls that are being prepared, one entry per call; all entries are the same client. */
  private readonly preparing: object[] = [];
  private lastServed: string | undefined;

  /** `hasOthers` tells whether a call of another client is running. */
  constructor(private readonly hasOthers: (client: object) => boolean) {}

  /** Starts `work` as soon as no other client is served. */
  enter<T>(caller: RequestCaller, patience: Patience, work: Work<T>): Promise<T> {
    if (this.waiting.length === 0 && this.isFree(caller.client)) return this.serve(caller, work);
    const { withinMs, signal } = patience;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        const place = this.waiting.indexOf(waiter);
        if (place >= 0) this.waiting.splice(place, 1);
      };
      const cancel = (): void => {
        leave();
        reject(new RequestCancelled());
      };
      const timer = setTimeout(() => {
        leave();
        reject(new ServerBusyWithOthers(withinMs));
      }, withinMs);
      const waiter: Waiter = {
        caller,
        start: () => {
          leave();
          this.serve(caller, work).then(resolve, reject);
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.waiting.push(waiter);
    });
  }

  /** Call this when a call has ended. */
  next(): void {
    const others = ({ caller }: Waiter): boolean => caller.principal !== this.lastServed;
    const waiter = this.waiting.find(others) ?? this.waiting[0];
    if (waiter && this.isFree(waiter.caller.client)) waiter.start();
  }

  private isFree(client: object): boolean {
    return !this.hasOthers(client) && (this.preparing[0] ?? client) === client;
  }

  private async serve<T>({ principal, client }: RequestCaller, work: Work<T>): Promise<T> {
    this.lastServed = principal;
    const prepared = work.prepare();
    if (!prepared) return work.start();
    this.preparing.push(client);
    await prepared;
    this.preparing.pop();
    // The call may end before it counts as running.
    return work.start().finally(() => this.next());
  }
}
