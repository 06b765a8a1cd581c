import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type HistoryEntry, ServerStore } from '../server.store.js';

/** Every entry that is kept of the history of a server, oldest first; empty for an unknown one. */
export class ServerHistory extends Query<readonly HistoryEntry[]> {
  constructor(readonly serverId: string) {
    super();
  }
}

@QueryHandler(ServerHistory)
export class ServerHistoryHandler implements IQueryHandler<ServerHistory> {
  constructor(private readonly servers: ServerStore) {}

  execute({ serverId }: ServerHistory): Promise<readonly HistoryEntry[]> {
    return this.servers.wholeHistory(serverId);
  }
}
