import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { DiscoveryProgress } from './discovery-progress.js';

@EventsHandler(ServerRemoved)
export class ForgetProgressOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(private readonly progress: DiscoveryProgress) {}

  handle({ serverId }: ServerRemoved): void {
    this.progress.forget(serverId);
  }
}
