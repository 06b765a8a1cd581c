import { Logger } from '@nestjs/common';
import {
  Command,
  CommandBus,
  CommandHandler,
  EventBus,
  type ICommandHandler,
  QueryBus,
} from '@nestjs/cqrs';
import { type Actor, AuditStore, SYSTEM } from '@app/access';
import { ToolListChanged } from '@app/events';
import { AppError } from '@app/platform';
import { GetServer, type Server } from '@app/registry';
import { ConnectServer } from './connect-server.command.js';
import { ServerAuthorizations } from './server-authorizations.js';
import { SessionPool } from './session-pool.js';
import { AuthorizationUnknown } from './sessions.errors.js';

export interface ConsentAnswer {
  /** What the question carried; finds it again. */
  readonly secret: string;
  readonly code: string | undefined;
  readonly iss: string | undefined;
}

/** A person has answered an authorization server; the name of the server it was about. Throws AuthorizationUnknown. */
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
  private readonly logger = new Logger('sessions');

  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
    private readonly events: EventBus,
    private readonly authorizations: ServerAuthorizations,
    private readonly pool: SessionPool,
    private readonly audit: AuditStore,
  ) {}

  async execute({ answer, actor }: FinishAuthorization): Promise<string> {
    const { secret, code, iss } = answer;
    const serverId = await this.authorizations.serverAskedWith(secret);
    if (serverId === undefined) throw new AuthorizationUnknown();
    const server = await this.queries.execute(new GetServer(serverId));
    try {
      const authorizer = await this.authorizations.of(server);
      await authorizer.finish({ code, iss }, secret);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'unexpected';
      this.logger.warn({ server: server.name, reason }, 'authorization failed');
      await this.audit.record({ event: 'server.authorized', actor, server, outcome: 'failure' });
      throw error;
    }
    this.logger.log({ server: server.name }, 'authorized');
    await this.audit.record({ event: 'server.authorized', actor, server });
    await this.use(server);
    return server.name;
  }

  private async use(server: Server): Promise<void> {
    if (this.pool.get(server.id)) this.events.publish(new ToolListChanged(server.id));
    else if (server.wanted) await this.commands.execute(new ConnectServer(server.id, 0, SYSTEM));
  }
}
