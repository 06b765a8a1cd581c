import { EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { ServerRegistered } from '@app/events';
import { GetServer } from '@app/registry';
import { SessionPool } from './session-pool.js';

@EventsHandler(ServerRegistered)
export class OpenSessionOnServerRegistered implements IEventHandler<ServerRegistered> {
  constructor(
    private readonly queries: QueryBus,
    private readonly pool: SessionPool,
  ) {}

  async handle({ serverId }: ServerRegistered): Promise<void> {
    const server = await this.queries.execute(new GetServer(serverId));
    if (server.status !== 'CONNECTING' || !this.pool.leads) return;
    // A failure is in the row, and trying goes on.
    await this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
  }
}
