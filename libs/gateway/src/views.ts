import { Injectable } from '@nestjs/common';
import { Catalogue } from '@app/discovery';
import type { McpView } from '@app/mcp';
import { ServerNotFound } from '@app/registry';
import { AggregateView } from './aggregate.view.js';
import { ClientRoots } from './client-roots.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { SearchView } from './search.view.js';
import { ServerLogs } from './server-logs.js';
import { ServerNews } from './server-news.js';
import { ServerView } from './server.view.js';
import { Upstreams } from './upstreams.js';

/** Which view an address means. */
@Injectable()
export class Views {
  private readonly servers = new Map<string, ServerView>();

  constructor(
    readonly aggregate: AggregateView,
    readonly search: SearchView,
    private readonly catalogue: Catalogue,
    private readonly upstreams: Upstreams,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly logs: ServerLogs,
    private readonly news: ServerNews,
    private readonly roots: ClientRoots,
  ) {}

  ofServer(name: string): McpView {
    const server = this.catalogue.current.serversByName.get(name);
    if (!server) throw new ServerNotFound(name);
    let view = this.servers.get(server.id);
    if (!view) {
      const { upstreams, subscriptions, logs, news, roots } = this;
      view = new ServerView(server, upstreams, subscriptions, logs, news, roots);
      this.servers.set(server.id, view);
    }
    return view;
  }

  forget(serverId: string): void {
    this.servers.delete(serverId);
  }
}
