import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { UnhandledExceptionBus } from '@nestjs/cqrs';
import type { Counter } from 'prom-client';
import type { Subscription } from 'rxjs';
import { counter, InjectMetric } from '../metrics/metric-providers.js';
import { AppError } from './app-error.js';
import { ListenerNames } from './listener-names.js';

const EVENT_FAILURES = 'mcp_aggregator_event_failures_total';
export const eventFailures = counter({
  name: EVENT_FAILURES,
  help: 'Events whose listener failed',
  labelNames: ['event'],
});

/**
 * Logs and counts failing listeners: the event bus swallows their errors, and only the next reconciliation repairs the
 * state. An expected failure, such as a server that refuses, is a warning without a stack.
 */
@Injectable()
export class LogUnhandled implements OnModuleDestroy {
  private readonly logger = new Logger('events');
  private readonly subscription: Subscription;

  constructor(
    failures: UnhandledExceptionBus,
    @InjectMetric(EVENT_FAILURES) failed: Counter<'event'>,
    names: ListenerNames,
  ) {
    this.subscription = failures.subscribe(({ cause, exception }) => {
      const event = cause?.constructor.name ?? 'unknown';
      const listener = names.of(exception);
      failed.inc({ event });
      const keys = { event, listener, ...serverOf(cause) };
      if (exception instanceof AppError) {
        const { code, message } = exception;
        this.logger.warn({ ...keys, code, reason: message }, 'listener.refused');
      } else {
        this.logger.error({ ...keys, err: exception }, 'listener.failed');
      }
    });
  }

  onModuleDestroy(): void {
    this.subscription.unsubscribe();
  }
}

function serverOf(cause: object | undefined): { server_id?: unknown } {
  return cause && 'serverId' in cause ? { server_id: cause.serverId } : {};
}
