import { Inject, Logger } from '@nestjs/common';
import { Command, CommandHandler, EventBus, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerAuthorized } from '@app/events';
import { AppError, Env } from '@app/platform';
import { GetServer, refuseIfDisabled } from '@app/registry';
import { ServerAuthorizations } from '../server-authorizations.js';
import { AuthorizationUnknown } from '../authorization.errors.js';

export interface ConsentAnswer {
  /** The OAuth state, which identifies the consent request. */
  readonly secret: string;
  readonly code: string | undefined;
  readonly iss: string | undefined;
}

/** Completes an authorization after the callback; returns the name of the server. Throws AuthorizationUnknown. */
export class FinishAuthorization extends Command<string> {
  constructor(
    readonly answer: ConsentAnswer,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(FinishAuthorization)
export class FinishAuthorizationHandler implements ICommandHandler<FinishAuthorization> {
  private readonly logger = new Logger('authorization');

  constructor(
    private readonly queries: QueryBus,
    private readonly events: EventBus,
    private readonly authorizations: ServerAuthorizations,
    private readonly audit: AuditStore,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ answer, actor }: FinishAuthorization): Promise<string> {
    const { secret, code, iss } = answer;
    const serverId = await this.authorizations.serverAskedWith(secret);
    if (serverId === undefined) throw new AuthorizationUnknown();
    const server = await this.queries.execute(new GetServer(serverId));
    refuseIfDisabled(this.env, server);
    try {
      const authorizer = await this.authorizations.of(server);
      await authorizer.finish({ code, iss }, secret);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'unexpected';
      this.logger.warn(
        { server: server.name, server_id: server.id, reason },
        'authorization.failed',
      );
      await this.audit.record({ event: 'server.authorized', actor, server, outcome: 'failure' });
      throw error;
    }
    this.logger.log({ server: server.name, server_id: server.id }, 'authorization.granted');
    await this.audit.record({ event: 'server.authorized', actor, server });
    this.events.publish(new ServerAuthorized(server.id));
    return server.name;
  }
}
