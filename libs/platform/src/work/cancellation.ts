import { UnhashedSet } from './unhashed-set.js';

/** The read side of a cancellation. An `AbortSignal` satisfies it; a `Cancellation` costs a tenth of one. */
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

/** `AbortController` and signal in one, for objects that are created per call. */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: unknown;
  private readonly listeners = new UnhashedSet<() => void>();

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.listeners) if (this.listeners.remove(listener)) listener();
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** As with an `AbortSignal`, each listener is called at most once, and never when added after the cancellation. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.remove(listener);
  }
}

/** An `AbortSignal` for APIs that require one. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
