import { CommandBus, EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerStatusChanged } from '@app/events';
import { DiscoverTools } from './discover-tools.command.js';

/** While a server is DEGRADED, every discovery of it is deferred until it has recovered (contract R40). */
@EventsHandler(ServerStatusChanged)
export class DiscoverToolsOnServerRecovered implements IEventHandler<ServerStatusChanged> {
  constructor(private readonly commands: CommandBus) {}

  async handle({ serverId, from, to }: ServerStatusChanged): Promise<void> {
    if (from !== 'DEGRADED' || to !== 'CONNECTED') return;
    await this.commands.execute(new DiscoverTools(serverId));
  }
}
