import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { DRAIN_MS } from './disconnect-server.command.js';
import { SessionPool } from './session-pool.js';

@EventsHandler(ServerRemoved)
export class CloseSessionOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(private readonly pool: SessionPool) {}

  async handle({ serverId }: ServerRemoved): Promise<void> {
    await this.pool.close(serverId, { force: false, drainMs: DRAIN_MS });
  }
}
