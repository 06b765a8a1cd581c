import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { GetServer } from '@app/registry';
import { ServerAuthorizations } from './server-authorizations.js';

/** Where a person can consent to what the service may do at a server; also when it has consent, to give another. */
export class AuthorizeServer extends Command<{ readonly url: string; readonly until: Date }> {
  constructor(
    readonly serverId: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(AuthorizeServer)
export class AuthorizeServerHandler implements ICommandHandler<AuthorizeServer> {
  constructor(
    private readonly queries: QueryBus,
    private readonly authorizations: ServerAuthorizations,
    private readonly audit: AuditStore,
  ) {}

  async execute({ serverId, actor }: AuthorizeServer): Promise<{ url: string; until: Date }> {
    const server = await this.queries.execute(new GetServer(serverId));
    const authorizer = await this.authorizations.of(server);
    const { url, until } = await authorizer.question();
    await this.audit.record({ event: 'server.authorize', actor, server });
    return { url, until: new Date(until) };
  }
}
