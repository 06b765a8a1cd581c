import { Module } from '@nestjs/common';
import { AuthorizationModule } from '@app/authorization';
import { RegistryModule } from '@app/registry';
import { CloseSessionOnServerRemoved } from './connect/close-session.on-server-removed.js';
import { CloseSessionsOnCatalogueReplaced } from './reconcile/close-sessions.on-catalogue-replaced.js';
import { CloseWithdrawnSessionsHandler } from './reconcile/close-withdrawn-sessions.command.js';
import { ConnectServerHandler } from './connect/connect-server.command.js';
import { DisconnectServerHandler } from './connect/disconnect-server.command.js';

import { OpenSessionOnServerRegistered } from './connect/open-session.on-server-registered.js';
import { ReconcileSessionsHandler } from './reconcile/reconcile-sessions.command.js';
import { ReconcileSessionsJob } from './reconcile/reconcile-sessions.job.js';
import { ReconcileSessionsOnReplicaNews } from './reconcile/reconcile-sessions.on-replica-news.js';
import { ReconnectServerOnServerAuthorized } from './connect/reconnect-server.on-server-authorized.js';
import { ReopenSessionOnServerConnectionChanged } from './connect/reopen-session.on-server-connection-changed.js';
import { ServerFolders } from './connect/server-folders.js';
import { ComparePersonSessionsOnReplicaNews } from './persons/compare-person-sessions.on-replica-news.js';
import { CloseSessionOnPersonConnectionChanged } from './persons/close-session.on-person-connection-changed.js';
import { EndPersonSessionsJob } from './persons/end-person-sessions.job.js';
import { CallerSessions } from './persons/caller-sessions.js';
import { PersonSessions } from './persons/person-sessions.js';
import { ReplicaConnector } from './pass/replica-connector.js';
import { LogsOfLeader } from './pass/logs-of-leader.js';
import { SessionPool } from './keep/session-pool.js';
import { StdioPlace } from './pass/stdio-place.js';
import { SessionsController } from './sessions.controller.js';
import { TrialConnector } from './connect/trial-connector.js';
import { UpstreamBudgets } from './connect/upstream-budgets.js';
import { UpstreamConnector } from './connect/upstream-connector.js';

@Module({
  imports: [AuthorizationModule, RegistryModule],
  controllers: [SessionsController],
  providers: [
    ServerFolders,
    StdioPlace,
    ReplicaConnector,
    LogsOfLeader,
    UpstreamBudgets,
    UpstreamConnector,
    TrialConnector,
    SessionPool,
    PersonSessions,
    CallerSessions,
    EndPersonSessionsJob,
    CloseSessionOnPersonConnectionChanged,
    ComparePersonSessionsOnReplicaNews,
    ReconcileSessionsJob,
    ReconcileSessionsHandler,
    ReconcileSessionsOnReplicaNews,
    ConnectServerHandler,
    DisconnectServerHandler,
    OpenSessionOnServerRegistered,
    ReopenSessionOnServerConnectionChanged,
    ReconnectServerOnServerAuthorized,
    CloseSessionOnServerRemoved,
    CloseSessionsOnCatalogueReplaced,
    CloseWithdrawnSessionsHandler,
  ],
  exports: [
    CallerSessions,
    PersonSessions,
    SessionPool,
    StdioPlace,
    TrialConnector,
    RegistryModule,
  ],
})
export class SessionsModule {}
