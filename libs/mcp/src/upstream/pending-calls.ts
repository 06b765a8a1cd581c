import type { WrittenObject } from '@app/platform';
import type { RequestId } from './json-rpc.js';
import { Numbered } from './numbered.js';
import type { RequestOptions } from './upstream.js';
import { RequestCancelled, RequestTimedOut } from './upstream.errors.js';

/** How often progress may start the deadline of a call anew, unless its caller says when it ends. */
export const PROGRESS_STRETCHES = 5;

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  readonly settle: {
    resolve(this: void, result: WrittenObject): void;
    reject(this: void, error: Error): void;
  };
  readonly onAbort: (() => void) | undefined;
  timer: NodeJS.Timeout;
  /** Questions of the server that it waits for: a person may be typing. */
  asking: number;
}

/** The client of the negotiation counts from 0: a late or repeated answer to it is none of ours. */
const LAST_FOREIGN_ID = 999;

/** Requests of ours that have no answer yet, each with its deadline and its caller's right to cancel. */
export class PendingCalls {
  private readonly calls = new Numbered<Call>(LAST_FOREIGN_ID);

  /** `onGivenUp` is told of calls that nobody waits for any more, so that the server can be told. */
  constructor(private readonly onGivenUp: (id: RequestId, reason: string) => void) {}

  get size(): number {
    return this.calls.size;
  }

  has(id: RequestId): boolean {
    return this.calls.get(id) !== undefined;
  }

  /** For requests that are no calls too. */
  nextId(): number {
    return this.calls.nextId();
  }

  get(id: RequestId): Call | undefined {
    return this.calls.get(id);
  }

  /** Where all answers share one stream, what cannot be told apart belongs to the only call, if it is one. */
  only(): Call | undefined {
    return this.calls.size === 1 ? this.calls.all()[0] : undefined;
  }

  /** The number under which it is sent. */
  add(method: string, options: RequestOptions, settle: Call['settle']): number {
    const id = this.calls.nextId();
    const { signal, timeoutMs, maxTotalMs = timeoutMs * PROGRESS_STRETCHES } = options;
    const onAbort = signal && ((): void => this.giveUp(id, new RequestCancelled()));
    if (signal && onAbort) signal.addEventListener('abort', onAbort, { once: true });
    this.calls.add({
      id,
      method,
      options,
      endsAt: performance.now() + maxTotalMs,
      settle,
      onAbort,
      timer: setTimeout(() => this.expire(id), timeoutMs),
      asking: 0,
    });
    return id;
  }

  resolve(id: RequestId, result: WrittenObject): void {
    this.take(id)?.settle.resolve(result);
  }

  reject(id: RequestId, error: Error): void {
    this.take(id)?.settle.reject(error);
  }

  rejectAll(error: Error): void {
    for (const { id } of this.calls.all()) this.reject(id, error);
  }

  giveUp(id: RequestId, error: Error): void {
    const call = this.take(id);
    if (!call) return;
    call.settle.reject(error);
    this.onGivenUp(id, error.message);
  }

  /** A sign of life: the deadline starts anew, but never beyond the end. */
  extend(id: RequestId): void {
    const call = this.calls.get(id);
    if (!call) return;
    const left = Math.max(0, Math.min(call.options.timeoutMs, call.endsAt - performance.now()));
    clearTimeout(call.timer);
    call.timer = setTimeout(() => this.expire(id), left);
  }

  private expire(id: RequestId): void {
    const call = this.calls.get(id);
    if (!call) return;
    if (call.asking > 0 && performance.now() < call.endsAt) return this.extend(id);
    this.giveUp(id, new RequestTimedOut(call.method, call.options.timeoutMs));
  }

  private take(id: RequestId): Call | undefined {
    const call = this.calls.get(id);
    if (!call) return undefined;
    this.calls.remove(call);
    clearTimeout(call.timer);
    if (call.onAbort) call.options.signal?.removeEventListener('abort', call.onAbort);
    return call;
  }
}
