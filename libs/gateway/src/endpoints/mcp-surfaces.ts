import { Injectable } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import type { McpSurface } from '@app/mcp-server';
import { ServerNotFound } from '@app/registry';
import { AggregateSurface } from './aggregate.surface.js';
import { ClientRoots } from '../notify/client-roots.js';
import { LoopGuard } from './loop-guard.js';
import { ResourceSubscriptions } from '../notify/resource-subscriptions.js';
import { SearchSurface } from './search.surface.js';
import { ServerLogs } from '../notify/server-logs.js';
import { ServerNotifications } from '../notify/server-notifications.js';
import { ServerSurface } from './server.surface.js';
import { RequestForwarder } from '../forward/request-forwarder.js';

/** Resolves a path to its surface. */
@Injectable()
export class McpSurfaces {
  private readonly servers = new Map<string, ServerSurface>();

  constructor(
    readonly aggregate: AggregateSurface,
    readonly search: SearchSurface,
    private readonly catalogue: Catalogue,
    private readonly forwarder: RequestForwarder,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly logs: ServerLogs,
    private readonly notifications: ServerNotifications,
    private readonly roots: ClientRoots,
    private readonly loops: LoopGuard,
  ) {}

  ofServer(name: string): McpSurface {
    const server = this.catalogue.current.serversByName.get(name);
    if (!server) throw new ServerNotFound(name);
    let view = this.servers.get(server.id);
    if (!view) {
      const { forwarder, subscriptions, logs, notifications, roots, loops } = this;
      view = new ServerSurface(server, forwarder, subscriptions, logs, notifications, roots, loops);
      this.servers.set(server.id, view);
    }
    view.follow(server);
    return view;
  }

  forget(serverId: string): void {
    this.servers.delete(serverId);
  }
}
