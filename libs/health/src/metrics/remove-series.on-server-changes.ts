import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved, ServerUpdated } from '@app/events';
import { ServerSeries } from '@app/platform';
import { ScrapedServers } from './scraped-servers.js';

/** Removes the series at once, so that a new server with the same name does not continue the old counters. */
@EventsHandler(ServerRemoved, ServerUpdated)
export class RemoveSeriesOnServerChanges implements IEventHandler {
  constructor(
    private readonly series: ServerSeries,
    private readonly servers: ScrapedServers,
  ) {}

  async handle(event: ServerRemoved | ServerUpdated): Promise<void> {
    if (event instanceof ServerRemoved) await this.series.remove(event.name);
    else if (event.fields.includes('name')) await this.servers.refresh();
  }
}
