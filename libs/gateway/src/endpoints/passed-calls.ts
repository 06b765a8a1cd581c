import { Cancellation, type CancelSignal, Peers } from '@app/platform';

interface Running {
  readonly replica: string;
  readonly cancellation: Cancellation;
}

/**
 * Calls of other replicas that run here. A call that waits for an answer of its user has no exchange open, whose end
 * would cancel it: its replica says so, or is gone. Bounded by the calls that wait.
 */
export class PassedCalls {
  private readonly running = new Map<string, Running>();

  constructor(peers: Pick<Peers, 'onGone'>) {
    peers.onGone((replica) => this.cancelAllOf(replica));
  }

  /** Runs work with a signal that also follows `signal`. */
  async run<T>(
    { call, replica }: { readonly call: string; readonly replica: string },
    signal: CancelSignal,
    work: (signal: CancelSignal) => Promise<T>,
  ): Promise<T> {
    const cancellation = new Cancellation();
    const follow = (): void => {
      const { reason } = signal;
      cancellation.abort(reason instanceof Error ? reason : new Error('cancelled'));
    };
    if (signal.aborted) follow();
    else signal.addEventListener('abort', follow, { once: true });
    this.running.set(call, { replica, cancellation });
    try {
      return await work(cancellation);
    } finally {
      signal.removeEventListener('abort', follow);
      this.running.delete(call);
    }
  }

  cancel(call: string): void {
    this.running.get(call)?.cancellation.abort(new Error('cancelled by its caller'));
  }

  private cancelAllOf(id: string): void {
    for (const { replica, cancellation } of this.running.values()) {
      if (replica === id) cancellation.abort(new Error('the replica of its caller is gone'));
    }
  }
}
