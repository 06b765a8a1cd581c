import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type PersonalTemplate, personalTemplate } from '../credentials/personal-template.js';
import type { Server } from '../server.js';
import { ServerStore } from '../server.store.js';

export interface PersonalServer {
  readonly server: Server;
  readonly template: PersonalTemplate;
}

/** Every server that people connect with credentials of their own, by name. */
export class ListPersonalServers extends Query<readonly PersonalServer[]> {}

@QueryHandler(ListPersonalServers)
export class ListPersonalServersHandler implements IQueryHandler<ListPersonalServers> {
  constructor(private readonly servers: ServerStore) {}

  async execute(): Promise<readonly PersonalServer[]> {
    const all = await this.servers.allWithConfig();
    return all.flatMap(({ server, config }) =>
      config && server.credentials === 'per_user'
        ? [{ server, template: personalTemplate(config) }]
        : [],
    );
  }
}
