import { CommandBus, EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { SYSTEM } from '@app/access';
import { ServerAuthorized } from '@app/events';
import { GetServer, unlessRemoved } from '@app/registry';
import { ConnectServer } from './connect-server.command.js';
import { SessionPool } from '../keep/session-pool.js';

/** Connects a server that has no session: with the new credentials, connecting can succeed now. */
@EventsHandler(ServerAuthorized)
export class ReconnectServerOnServerAuthorized implements IEventHandler<ServerAuthorized> {
  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
    private readonly pool: SessionPool,
  ) {}

  async handle({ serverId }: ServerAuthorized): Promise<void> {
    if (this.pool.get(serverId)) return;
    await unlessRemoved(async () => {
      const { wanted } = await this.queries.execute(new GetServer(serverId));
      if (wanted) await this.commands.execute(new ConnectServer(serverId, 0, SYSTEM));
    });
  }
}
