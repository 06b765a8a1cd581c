import { Injectable } from '@nestjs/common';
import { EventBus, UnhandledExceptionBus } from '@nestjs/cqrs';
import { Signal } from './signal.js';

type EventClass<E extends object> = abstract new (...values: never[]) => E;

/**
 * Publishes events. Listeners added with `hear` are awaited, so that a response given afterwards agrees with the event;
 * those with `@EventsHandler` start at the same time and are not awaited. LogUnhandled reports failures of either.
 */
@Injectable()
export class Signals {
  private readonly byEvent = new Map<unknown, Signal<object>>();

  constructor(
    private readonly bus: EventBus,
    private readonly failures: UnhandledExceptionBus,
  ) {}

  hear<E extends object>(event: EventClass<E>, listener: (event: E) => unknown): () => void {
    let signal = this.byEvent.get(event);
    if (!signal) {
      const report = (exception: unknown, cause: object): void =>
        this.failures.publish({ exception, cause });
      this.byEvent.set(event, (signal = new Signal<object>(event.name, report)));
    }
    return signal.hear((told) => (told instanceof event ? listener(told) : undefined));
  }

  /** Never rejects. Resolves when all listeners added with `hear` have settled. */
  tell(event: object): Promise<void> {
    const heard = this.byEvent.get(event.constructor)?.tell(event);
    this.bus.publish(event);
    return heard ?? Promise.resolve();
  }
}
