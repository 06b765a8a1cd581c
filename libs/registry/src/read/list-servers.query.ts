import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Server } from '../server.js';
import type { ServerStatus } from '../status/server-status.js';
import { ServerStore } from '../server.store.js';

/** Servers ordered by name, optionally filtered by id or status. */
export class ListServers extends Query<readonly Server[]> {
  constructor(readonly filter: { status?: ServerStatus; ids?: readonly string[] } = {}) {
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
