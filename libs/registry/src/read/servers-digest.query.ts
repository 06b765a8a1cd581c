import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { ServerStore } from '../server.store.js';

/** Hash over all servers; it differs when anything that the catalogue shows differs. */
export class ServersDigest extends Query<string> {}

@QueryHandler(ServersDigest)
export class ServersDigestHandler implements IQueryHandler<ServersDigest> {
  constructor(private readonly servers: ServerStore) {}

  execute(): Promise<string> {
    return this.servers.digest();
  }
}
