import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import {
  ServerRegistered,
  ServerRemoved,
  ServerUpdated,
  ServerStatusChanged,
  ToolsDiscovered,
} from '@app/events';
import { Catalogue } from './catalogue.js';

/** Each of these means that the picture differs from the rows; it is read anew, as far as it can differ. */
@EventsHandler(ServerRegistered, ServerStatusChanged, ServerUpdated, ServerRemoved, ToolsDiscovered)
export class RefreshCatalogueOnChanges implements IEventHandler {
  constructor(private readonly catalogue: Catalogue) {}

  async handle(
    event: ServerRegistered | ServerStatusChanged | ServerUpdated | ServerRemoved | ToolsDiscovered,
  ): Promise<void> {
    if (event instanceof ServerRegistered || event instanceof ServerStatusChanged) {
      await this.catalogue.reloadServers();
    } else {
      await this.catalogue.reload([event.serverId]);
    }
  }
}
