import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { Server } from '../server.js';
import { ServerStore } from '../server.store.js';

/** One server; throws ServerNotFound. */
export class GetServer extends Query<Server> {
  constructor(readonly serverId: string) {
    super();
  }
}

@QueryHandler(GetServer)
export class GetServerHandler implements IQueryHandler<GetServer> {
  constructor(private readonly servers: ServerStore) {}

  execute({ serverId }: GetServer): Promise<Server> {
    return this.servers.get(serverId);
  }
}
