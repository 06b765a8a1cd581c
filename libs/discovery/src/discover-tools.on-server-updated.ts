import { CommandBus, EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerUpdated } from '@app/events';
import { Replicas } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { DiscoverTools } from './discover-tools.command.js';
import { DISCOVERY_REQUESTED } from './refresh-tools.command.js';

/** With another trust other definitions are offered. */
@EventsHandler(ServerUpdated)
export class DiscoverToolsOnServerUpdated implements IEventHandler<ServerUpdated> {
  constructor(
    private readonly commands: CommandBus,
    private readonly sessions: SessionPool,
    private readonly replicas: Replicas,
  ) {}

  async handle({ serverId, fields }: ServerUpdated): Promise<void> {
    if (!fields.includes('trust')) return;
    if (this.sessions.leads) await this.commands.execute(new DiscoverTools(serverId));
    else await this.replicas.tell(DISCOVERY_REQUESTED, [serverId]);
  }
}
