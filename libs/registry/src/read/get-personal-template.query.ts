import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { personalTemplate } from '../credentials/personal-template.js';
import { ServerStore } from '../server.store.js';
import type { PersonalServer } from './list-personal-servers.query.js';

/** What a person gives to use a server. Throws ServerNotFound. */
export class GetPersonalTemplate extends Query<PersonalServer> {
  constructor(readonly serverId: string) {
    super();
  }
}

@QueryHandler(GetPersonalTemplate)
export class GetPersonalTemplateHandler implements IQueryHandler<GetPersonalTemplate> {
  constructor(private readonly servers: ServerStore) {}

  async execute({ serverId }: GetPersonalTemplate): Promise<PersonalServer> {
    const { server, config } = await this.servers.getWithConfig(serverId);
    return { server, template: personalTemplate(config) };
  }
}
