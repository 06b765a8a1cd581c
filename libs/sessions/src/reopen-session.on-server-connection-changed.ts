import { EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { ServerConnectionChanged } from '@app/events';
import { GetServer } from '@app/registry';
import { DRAIN_MS } from './disconnect-server.command.js';
import { SessionPool } from './session-pool.js';

/** An open session uses the old way; pending calls end on it first. */
@EventsHandler(ServerConnectionChanged)
export class ReopenSessionOnServerConnectionChanged implements IEventHandler<ServerConnectionChanged> {
  constructor(
    private readonly queries: QueryBus,
    private readonly pool: SessionPool,
  ) {}

  async handle({ serverId }: ServerConnectionChanged): Promise<void> {
    if (!this.pool.isKept(serverId)) return;
    await this.pool.close(serverId, { force: false, drainMs: DRAIN_MS });
    const server = await this.queries.execute(new GetServer(serverId));
    if (!server.wanted) return;
    await this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
  }
}
