import { CommandBus, EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { ServerConnectionChanged } from '@app/events';
import { ChangeServerStatus, GetServer } from '@app/registry';
import { DRAIN_MS } from './disconnect-server.command.js';
import { SessionPool } from './session-pool.js';

/** An open session uses the old way; pending calls end on it first. */
@EventsHandler(ServerConnectionChanged)
export class ReopenSessionOnServerConnectionChanged implements IEventHandler<ServerConnectionChanged> {
  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
    private readonly pool: SessionPool,
  ) {}

  async handle({ serverId }: ServerConnectionChanged): Promise<void> {
    await this.pool.close(serverId, { force: false, drainMs: DRAIN_MS });
    const server = await this.queries.execute(new GetServer(serverId));
    if (!server.wanted) return;
    if (this.pool.leads) {
      await this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
    } else {
      // The process that leads finds a row that wants a session other than the one it has.
      await this.commands.execute(new ChangeServerStatus(serverId, 'disconnect'));
      await this.commands.execute(new ChangeServerStatus(serverId, 'connect'));
    }
  }
}
