import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import {
  ServerRegistered,
  ServerRemoved,
  ServerStatusChanged,
  ServerUpdated,
  ToolsClassified,
  ToolsDiscovered,
} from '@app/events';
import { Catalogue } from './catalogue.js';

type Change =
  | ServerRegistered
  | ServerStatusChanged
  | ServerUpdated
  | ServerRemoved
  | ToolsDiscovered
  | ToolsClassified;

/** Each of these means that the picture differs from the rows; it is read anew, as far as it can differ. */
@EventsHandler(
  ServerRegistered,
  ServerStatusChanged,
  ServerUpdated,
  ServerRemoved,
  ToolsDiscovered,
  ToolsClassified,
)
export class RefreshCatalogueOnChanges implements IEventHandler<Change> {
  constructor(private readonly catalogue: Catalogue) {}

  async handle(event: Change): Promise<void> {
    if (event instanceof ServerRegistered || event instanceof ServerStatusChanged) {
      await this.catalogue.reloadServers();
    } else if (event instanceof ToolsClassified) {
      await this.catalogue.reload(event.serverIds);
    } else {
      await this.catalogue.reload([event.serverId]);
    }
  }
}
