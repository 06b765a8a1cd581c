import type { CancelSignal } from '@app/platform';
import { RequestCancelled, ServerBusyWithOthers } from '../upstream.errors.js';

interface Entrant {
  readonly principal: string;
  /** Work of the same turn may run at the same time; compared by identity. */
  readonly turn: object;
}

interface Waiter {
  readonly caller: Entrant;
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
 * Serialises the calls of a server by turn, which usually is one client. Where a server sends requests outside of any exchange, they name no
 * call, so only one client may have running calls (contract R51).
 */
export class CallerTurns {
  private readonly waiting: Waiter[] = [];
  /** The turns of calls that are being prepared, one entry per call; all entries are the same turn. */
  private readonly preparing: object[] = [];
  private lastServed: string | undefined;

  /** `hasOthers` tells whether a call of another turn is running. */
  constructor(private readonly hasOthers: (turn: object) => boolean) {}

  get isWaitedFor(): boolean {
    return this.waiting.length > 0;
  }

  /** Starts `work` as soon as no other turn is served. */
  enter<T>(caller: Entrant, patience: Patience, work: Work<T>): Promise<T> {
    if (this.waiting.length === 0 && this.isFree(caller.turn)) return this.serve(caller, work);
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
    if (!waiter || !this.isFree(waiter.caller.turn)) return;
    const { turn } = waiter.caller;
    // All of this turn that wait: one at a time, the more there are the longer each would take.
    for (let one: Waiter | undefined = waiter; one; one = this.firstOf(turn)) one.start();
  }

  private firstOf(turn: object): Waiter | undefined {
    return this.waiting.find(({ caller }) => caller.turn === turn);
  }

  private isFree(turn: object): boolean {
    return !this.hasOthers(turn) && (this.preparing[0] ?? turn) === turn;
  }

  private async serve<T>({ principal, turn }: Entrant, work: Work<T>): Promise<T> {
    this.lastServed = principal;
    const prepared = work.prepare();
    if (prepared) {
      this.preparing.push(turn);
      await prepared;
      this.preparing.pop();
    }
    // The call may end before it counts as running, as when the session has ended.
    return work.start().finally(() => this.next());
  }
}
