import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved, ServerUpdated } from '@app/events';
import { CheckMetrics } from './check.metrics.js';

/** The label of a name that no server has any more would stay for ever. */
@EventsHandler(ServerRemoved, ServerUpdated)
export class ForgetMetricsOnServerChanges implements IEventHandler {
  constructor(private readonly metrics: CheckMetrics) {}

  handle(event: ServerRemoved | ServerUpdated): void {
    if (event instanceof ServerRemoved || event.fields.includes('name')) this.metrics.forgetAll();
  }
}
