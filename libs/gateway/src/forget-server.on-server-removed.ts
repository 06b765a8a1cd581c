import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { ClientRoots } from './client-roots.js';
import { Offerings } from './offerings.js';
import { Views } from './views.js';

@EventsHandler(ServerRemoved)
export class ForgetServerOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(
    private readonly views: Views,
    private readonly offerings: Offerings,
    private readonly roots: ClientRoots,
  ) {}

  handle({ serverId }: ServerRemoved): void {
    this.views.forget(serverId);
    this.offerings.forget(serverId);
    this.roots.forget(serverId);
  }
}
