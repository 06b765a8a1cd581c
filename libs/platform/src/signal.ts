import { Logger } from '@nestjs/common';

export type Listener<T> = (value: T) => unknown;

/** Receives what a listener threw or rejected with. */
export type ReportFailure<T> = (error: unknown, value: T) => void;

const DONE = Promise.resolve();

/**
 * Notifies listeners of this process in the order of subscription. A failing listener is reported and affects neither
 * the others nor the sender.
 */
export class Signal<T> {
  private readonly listeners = new Set<{ readonly call: Listener<T> }>();

  constructor(
    name: string,
    private readonly report: ReportFailure<T> = logged(name),
  ) {}

  get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  /** The returned function unsubscribes; it is idempotent. */
  hear(listener: Listener<T>): () => void {
    const entry = { call: listener };
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }

  /** Never rejects. Resolves when the promises of all listeners have settled. */
  tell(value: T): Promise<void> {
    let running: Promise<unknown>[] | undefined;
    for (const entry of [...this.listeners]) {
      if (!this.listeners.has(entry)) continue; // an earlier listener removed it
      const outcome = this.call(entry.call, value);
      if (outcome) (running ??= []).push(outcome);
    }
    return running ? Promise.all(running).then(() => undefined) : DONE;
  }

  private call(listener: Listener<T>, value: T): Promise<unknown> | undefined {
    try {
      const outcome = listener(value);
      return outcome instanceof Promise
        ? outcome.catch((error: unknown) => this.report(error, value))
        : undefined;
    } catch (error) {
      this.report(error, value);
      return undefined;
    }
  }
}

function logged(name: string): ReportFailure<unknown> {
  const logger = new Logger(name);
  return (error) => logger.error({ err: error }, 'listener.failed');
}
