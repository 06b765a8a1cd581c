import { type ClientLimits, Shares } from '@app/platform';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../surface.js';
import type { StatelessCall } from './stateless-call.js';

/** Time for a client to provide requested input. */
export const ANSWER_WITHIN_MS = 600_000;
const MAX_SUSPENDED = 10_000;

/**
 * Calls of stateless clients that wait for input of the client. The client gets `input_required` and a sealed
 * state, and sends a new request with the input and the state; the call then continues.
 */
export class SuspendedCalls {
  private readonly calls = new Map<string, { call: StatelessCall; timer: NodeJS.Timeout }>();
  private readonly owners = new Shares();

  constructor(
    private readonly limits?: ClientLimits,
    private readonly max = MAX_SUSPENDED,
  ) {}

  /** Returns the key of the suspended call. */
  suspend(call: StatelessCall): string {
    const key = randomUUID();
    if (this.calls.size >= this.max) this.makeRoomFor(call.client.caller.name);
    const timer = setTimeout(() => {
      this.remove(key);
      call.abandon(new Error('the client did not come back with an answer'));
    }, ANSWER_WITHIN_MS);
    timer.unref();
    this.calls.set(key, { call, timer });
    this.owners.add(call.client.caller.name);
    return key;
  }

  /** A call can be resumed once per suspension. */
  resume(key: string): StatelessCall | undefined {
    return this.remove(key);
  }

  closeAll(): void {
    for (const key of this.calls.keys()) {
      this.remove(key)?.abandon(new Error('the service is stopping'));
    }
  }

  closeWhere(isUnwanted: (caller: Caller) => boolean, reason: string): void {
    for (const [key, { call }] of [...this.calls]) {
      if (isUnwanted(call.client.caller)) this.remove(key)?.abandon(new Error(reason));
    }
  }

  private remove(key: string): StatelessCall | undefined {
    const entry = this.calls.get(key);
    if (!entry) return undefined;
    clearTimeout(entry.timer);
    this.calls.delete(key);
    this.owners.remove(entry.call.client.caller.name);
    return entry.call;
  }

  /** Evicts the oldest call of the same principal, unless another principal exceeds its share. */
  private makeRoomFor(principal: string): void {
    const owner = this.owners.whoGivesWay(principal);
    for (const [key, { call }] of this.calls) {
      if (call.client.caller.name !== owner) continue;
      this.limits?.note('suspended_calls', owner);
      this.remove(key)?.abandon(new Error('too many calls wait for their clients'));
      return;
    }
  }
}
