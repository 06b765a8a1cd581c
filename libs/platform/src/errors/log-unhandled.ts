import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { UnhandledExceptionBus } from '@nestjs/cqrs';
import { Counter } from 'prom-client';
import type { Subscription } from 'rxjs';
import { Metrics } from '../metrics/metrics.js';
import { AppError } from './app-error.js';

/**
 * A listener that fails must not stay unseen: the bus swallows its error, and only the next
 * reconciliation mends what it left undone. What was to be expected, such as a server that refuses, is a
 * warning and needs no stack.
 */
@Injectable()
export class LogUnhandled implements OnModuleDestroy {
  private readonly logger = new Logger('events');
  private readonly subscription: Subscription;

  constructor(failures: UnhandledExceptionBus, metrics: Metrics) {
    const counter = new Counter({
      name: 'mcp_aggregator_event_failures_total',
      help: 'Events whose listener failed',
      labelNames: ['event'],
      registers: [metrics.registry],
    });
    this.subscription = failures.subscribe(({ cause, exception }) => {
      const event = cause?.constructor.name ?? 'unknown';
      counter.inc({ event });
      if (exception instanceof AppError) {
        const { code, message } = exception;
        this.logger.warn({ event, ...cause, code }, `a listener could not go on: ${message}`);
      } else {
        this.logger.error({ event, ...cause, err: exception }, 'a listener failed');
      }
    });
  }

  onModuleDestroy(): void {
    this.subscription.unsubscribe();
  }
}
