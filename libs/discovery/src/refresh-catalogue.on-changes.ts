import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import {
  ServerRegistered,
  ServerRemoved,
  ServerStatusChanged,
  ServerUpdated,
  ToolsClassified,
  ToolsDiscovered,
} from '@app/events';
import { Replicas } from '@app/platform';
import { Catalogue } from './catalogue.js';
import { SERVERS_CHANGED, TOOLS_CHANGED } from './follow-replicas.on-news.js';

type Change =
  | ServerRegistered
  | ServerStatusChanged
  | ServerUpdated
  | ServerRemoved
  | ToolsDiscovered
  | ToolsClassified;

/** Each of these means that the picture differs from the rows, here and in other replicas; it is read anew, as far as it can differ. */
@EventsHandler(
  ServerRegistered,
  ServerStatusChanged,
  ServerUpdated,
  ServerRemoved,
  ToolsDiscovered,
  ToolsClassified,
)
export class RefreshCatalogueOnChanges implements IEventHandler<Change> {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly replicas: Replicas,
  ) {}

  async handle(event: Change): Promise<void> {
    if (!mayChangeTools(event)) {
      await Promise.all([this.replicas.tell(SERVERS_CHANGED), this.catalogue.reloadServers()]);
      return;
    }
    // The aggregator's own tools have no server: with nobody named, they are meant.
    const ids = event instanceof ToolsClassified ? event.serverIds : [event.serverId];
    await Promise.all([
      this.replicas.tell(TOOLS_CHANGED, ids),
      this.catalogue.reload(ids.length > 0 ? ids : undefined),
    ]);
  }
}

/** A reconnected server usually lists what it listed before. */
function mayChangeTools(event: Change): boolean {
  if (event instanceof ToolsDiscovered) {
    return event.added.length + event.changed.length + event.removed.length > 0;
  }
  return !(event instanceof ServerRegistered || event instanceof ServerStatusChanged);
}
