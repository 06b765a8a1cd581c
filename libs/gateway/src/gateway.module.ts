import { type BeforeApplicationShutdown, Module } from '@nestjs/common';
import { AggregationModule } from '@app/aggregation';
import { DiscoveryModule } from '@app/discovery';
import { McpEndpoint } from '@app/mcp';
import { Clock, Env } from '@app/platform';
import { SessionsModule } from '@app/sessions';
import { AggregateView } from './aggregate.view.js';
import { ForgetServerOnServerRemoved } from './forget-server.on-server-removed.js';
import { RestoreWishesOnSessionOpened } from './restore-wishes.on-session-opened.js';
import { ClientRoots } from './client-roots.js';
import { ClientsController } from './clients.controller.js';
import { McpRoutes } from './mcp.routes.js';
import { Offerings } from './offerings.js';
import { RefreshOfferingsOnNews } from './refresh-offerings.on-news.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { SearchView } from './search.view.js';
import { ServerLogs } from './server-logs.js';
import { ServerNews } from './server-news.js';
import { UrlElicitations } from './url-elicitations.js';
import { Upstreams } from './upstreams.js';
import { Views } from './views.js';

@Module({
  imports: [AggregationModule, DiscoveryModule, SessionsModule],
  controllers: [ClientsController],
  providers: [
    {
      provide: McpEndpoint,
      inject: [Env, Clock],
      useFactory: (env: Env, clock: Clock) =>
        new McpEndpoint(
          {
            max: env.MCP_AGGREGATOR_MAX_SESSIONS,
            idleMs: env.MCP_AGGREGATOR_SESSION_TTL * 1_000,
          },
          clock,
        ),
    },
    McpRoutes,
    Views,
    AggregateView,
    SearchView,
    Upstreams,
    Offerings,
    ResourceSubscriptions,
    ServerLogs,
    ServerNews,
    ClientRoots,
    UrlElicitations,
    RestoreWishesOnSessionOpened,
    RefreshOfferingsOnNews,
    ForgetServerOnServerRemoved,
  ],
})
export class GatewayModule implements BeforeApplicationShutdown {
  constructor(private readonly endpoint: McpEndpoint) {}

  /** Before the listener closes, which waits for every open stream. */
  beforeApplicationShutdown(): void {
    this.endpoint.close();
  }
}
