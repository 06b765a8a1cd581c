import { Crowd } from './crowd.js';

/** What work needs to know of its being called off. An `AbortSignal` will do; a `Cancellation` costs a tenth of it. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(
    type: 'abort',
    listener: () => void,
    options?: { readonly once?: boolean },
  ): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Calls work off: an `AbortController` and its signal in one, for what is made with every call. */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: unknown;
  private readonly listeners = new Crowd<() => void>();

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.listeners) if (this.listeners.remove(listener)) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Each listener is called once at most, and not at all when it comes too late: as with a signal. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.remove(listener);
  }
}

/** An `AbortSignal` for those who need a real one. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
