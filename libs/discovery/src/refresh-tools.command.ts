import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Replicas } from '@app/platform';
import { GetServer, isServing } from '@app/registry';
import { ServerUnavailable, SessionPool } from '@app/sessions';
import { DiscoverTools } from './discover-tools.command.js';

/** Message to the replica that leads, which has the sessions; ids are server ids. */
export const DISCOVERY_REQUESTED = 'discovery-requested';

export type Refresh = 'REFRESHING' | 'DEFERRED';

/**
 * Starts a discovery by request of a person, without waiting for it. DEFERRED: the server is DEGRADED, and is
 * discovered when it has recovered (contract R40).
 */
export class RefreshTools extends Command<Refresh> {
  constructor(
    readonly serverId: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RefreshTools)
export class RefreshToolsHandler implements ICommandHandler<RefreshTools> {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly audit: AuditStore,
    private readonly sessions: SessionPool,
    private readonly replicas: Replicas,
  ) {}

  async execute({ serverId, actor }: RefreshTools): Promise<Refresh> {
    const server = await this.queries.execute(new GetServer(serverId));
    if (!isServing(server.status)) throw new ServerUnavailable(server);
    await this.audit.record({ event: 'tools.refresh_requested', actor, server });
    if (server.status === 'DEGRADED') return 'DEFERRED';
    if (this.sessions.leads) void this.commands.execute(new DiscoverTools(serverId));
    else await this.replicas.tell(DISCOVERY_REQUESTED, [serverId]);
    return 'REFRESHING';
  }
}
