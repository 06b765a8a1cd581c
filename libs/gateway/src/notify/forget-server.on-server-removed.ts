import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { Offerings } from '../lists/offerings.js';
import { ReplicaRoutes } from '../endpoints/replica.routes.js';
import { McpSurfaces } from '../endpoints/mcp-surfaces.js';

@EventsHandler(ServerRemoved)
export class ForgetServerOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(
    private readonly views: McpSurfaces,
    private readonly replicas: ReplicaRoutes,
    private readonly offerings: Offerings,
  ) {}

  handle({ serverId }: ServerRemoved): void {
    this.views.forget(serverId);
    this.replicas.forget(serverId);
    this.offerings.forget(serverId);
  }
}
