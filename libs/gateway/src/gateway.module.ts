import { type BeforeApplicationShutdown, Module } from '@nestjs/common';
import { ActivityFeed, ActivityModule } from '@app/activity';
import { ApprovalsModule } from '@app/approvals';
import { AggregationModule } from '@app/aggregation';
import { AuthorizationModule } from '@app/authorization';
import { CatalogueModule } from '@app/catalogue';
import { type ClusterView, McpEndpoint } from '@app/mcp-server';
import {
  ClientLimits,
  Clock,
  ClusterKeys,
  Drain,
  Env,
  PassingOn,
  Peers,
  Tracing,
  UnsentBytes,
} from '@app/platform';
import { PolicyModule } from '@app/policy';
import { ResultsModule } from '@app/results';
import { RoutingModule } from '@app/routing';
import { SessionsModule } from '@app/sessions';
import { AnnounceListsOnOfferingsChanged } from './notify/announce-lists.on-offerings-changed.js';
import { EndSessionsOnPolicyChanged } from './notify/end-sessions.on-policy-changed.js';
import { EndSessionsOnClientGrantsEnded } from './notify/end-sessions.on-client-grants-ended.js';
import { EndSessionsOnTokensWithdrawn } from './notify/end-sessions.on-tokens-withdrawn.js';
import { ForgetServerOnServerRemoved } from './notify/forget-server.on-server-removed.js';
import { ResubscribeOnSessionOpened } from './notify/resubscribe.on-session-opened.js';
import { ClientRoots } from './notify/client-roots.js';
import { ClientSessions } from './clients/client-sessions.js';
import { ClientSessionsController } from './clients/client-sessions.controller.js';
import { tellClient } from './clients/tell-client.js';
import { ClientsController } from './clients/clients.controller.js';
import { MisplacedRequests } from './endpoints/misplaced-requests.js';
import { LoopGuard } from './endpoints/loop-guard.js';
import { McpRoutes } from './endpoints/mcp.routes.js';
import { OfferingStore } from './lists/offering.store.js';
import { OfferingWarnings } from './lists/offering-warnings.js';
import { Offerings } from './lists/offerings.js';
import { InstructionScreening } from './screen/instruction-screening.js';
import { LiveLists } from './screen/live-lists.js';
import { ScreenAgainOnDecisions } from './screen/screen-again.on-decisions.js';
import { PromptScreening } from './screen/prompt-screening.js';
import { RefreshOfferingsOnServerNotice } from './lists/refresh-offerings.on-server-notice.js';
import { RelayNoticesOnServerNotice } from './notify/relay-notices.on-server-notice.js';
import { ReloadOfferingsOnReplicaNews } from './lists/reload-offerings.on-replica-news.js';
import { ReplicaNotices } from './notify/replica-notices.js';
import { ReplicaRoutes } from './endpoints/replica.routes.js';
import { ResourceSubscriptions } from './notify/resource-subscriptions.js';
import { ServerInstructions } from './lists/server-instructions.js';
import { ServerLogs } from './notify/server-logs.js';
import { ServerNotifications } from './notify/server-notifications.js';
import { ShowServersOnCatalogueReplaced } from './lists/show-servers.on-catalogue-replaced.js';
import { PendingUrlElicitations } from './notify/pending-url-elicitations.js';
import { KeptResultResources } from './forward/kept-result-resources.js';
import { AskToConnect } from './forward/ask-to-connect.js';
import { RequestForwarder } from './forward/request-forwarder.js';
import { McpSurfaces } from './endpoints/mcp-surfaces.js';
import { SurfaceDependencies } from './endpoints/surface-dependencies.js';

@Module({
  imports: [
    ActivityModule,
    AggregationModule,
    ApprovalsModule,
    AuthorizationModule,
    CatalogueModule,
    PolicyModule,
    ResultsModule,
    RoutingModule,
    SessionsModule,
  ],
  controllers: [ClientsController, ClientSessionsController],
  providers: [
    {
      provide: McpEndpoint,
      inject: [
        Env,
        Clock,
        UnsentBytes,
        ClientLimits,
        Drain,
        Peers,
        ClusterKeys,
        ActivityFeed,
        Tracing,
      ],
      useFactory: (
        env: Env,
        clock: Clock,
        unsent: UnsentBytes,
        limits: ClientLimits,
        drain: Drain,
        peers: Peers,
        keys: ClusterKeys,
        feed: ActivityFeed,
        tracing: Tracing,
      ) =>
        new McpEndpoint(
          {
            max: env.MCP_AGGREGATOR_MAX_SESSIONS,
            idleMs: env.MCP_AGGREGATOR_SESSION_TTL * 1_000,
          },
          clock,
          {
            unsent,
            limits,
            drain,
            tracing,
            onClient: tellClient(feed),
            ...(peers.isClustered && { cluster: clusterView(peers, keys) }),
          },
        ),
    },
    ClientSessions,
    McpRoutes,
    ReplicaRoutes,
    MisplacedRequests,
    McpSurfaces,
    SurfaceDependencies,
    AskToConnect,
    RequestForwarder,
    KeptResultResources,
    OfferingStore,
    ServerInstructions,
    OfferingWarnings,
    Offerings,
    PromptScreening,
    InstructionScreening,
    LiveLists,
    ScreenAgainOnDecisions,
    ReloadOfferingsOnReplicaNews,
    ResourceSubscriptions,
    ServerLogs,
    ServerNotifications,
    ReplicaNotices,
    ClientRoots,
    LoopGuard,
    PendingUrlElicitations,
    ResubscribeOnSessionOpened,
    RefreshOfferingsOnServerNotice,
    RelayNoticesOnServerNotice,
    ShowServersOnCatalogueReplaced,
    AnnounceListsOnOfferingsChanged,
    EndSessionsOnPolicyChanged,
    EndSessionsOnClientGrantsEnded,
    EndSessionsOnTokensWithdrawn,
    ForgetServerOnServerRemoved,
  ],
})
export class GatewayModule implements BeforeApplicationShutdown {
  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly passing: PassingOn,
  ) {}

  /** Ends open streams first, because closing the listener waits for them. */
  beforeApplicationShutdown(): void {
    this.endpoint.close();
    this.passing.endStanding();
  }
}

function clusterView(peers: Peers, keys: ClusterKeys): ClusterView {
  return {
    self: peers.self,
    get hasOthers() {
      return peers.hasOthers;
    },
    stateKeys: keys.derive('request state'),
  };
}
