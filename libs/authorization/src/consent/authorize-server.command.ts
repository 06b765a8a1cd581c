import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Env } from '@app/platform';
import { GetServer, refuseIfDisabled } from '@app/registry';
import { ServerAuthorizations } from '../server-authorizations.js';

/** The URL where a person can consent to the access of the service to a server; also to replace an earlier consent. */
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
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ serverId, actor }: AuthorizeServer): Promise<{ url: string; until: Date }> {
    const server = await this.queries.execute(new GetServer(serverId));
    refuseIfDisabled(this.env, server);
    const authorizer = await this.authorizations.of(server);
    const { url, until } = await authorizer.question();
    await this.audit.record({ event: 'server.authorize', actor, server });
    return { url, until: new Date(until) };
  }
}
