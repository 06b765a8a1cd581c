import { EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { ServerRegistered } from '@app/events';
import { GetServer } from '@app/registry';
import { OwnAddress } from './own-address.js';
import { SessionPool } from './session-pool.js';

@EventsHandler(ServerRegistered)
export class OpenSessionOnServerRegistered implements IEventHandler<ServerRegistered> {
  constructor(
    private readonly queries: QueryBus,
    private readonly pool: SessionPool,
    private readonly address: OwnAddress,
  ) {}

  async handle({ serverId }: ServerRegistered): Promise<void> {
    // What is registered while the service starts is found when it listens: programs would only slow it down.
    if (!this.address.isListening) return;
    const server = await this.queries.execute(new GetServer(serverId));
    if (server.status !== 'CONNECTING' || !this.pool.leads) return;
    // A failure is in the row, and trying goes on.
    await this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
  }
}
