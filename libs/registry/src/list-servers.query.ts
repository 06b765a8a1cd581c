import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Server } from './server.js';
import type { ServerStatus } from './server-status.js';
import { ServerStore } from './server.store.js';

/** All servers, by name. */
export class ListServers extends Query<readonly Server[]> {
  constructor(readonly filter: { status?: ServerStatus } = {}) {
    super();
  }
}

@QueryHandler(ListServers)
export class ListServersHandler implements IQueryHandler<ListServers> {
  constructor(private readonly servers: ServerStore) {}

  async execute({ filter }: ListServers): Promise<readonly Server[]> {
    return (await this.servers.list(filter)).servers;
  }
}
