import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { AuthorizationController, ConsentController } from './authorization.controller.js';
import { AuthorizeServerHandler } from './authorize-server.command.js';
import { CloseSessionOnServerRemoved } from './close-session.on-server-removed.js';
import { ConnectServerHandler } from './connect-server.command.js';
import { DisconnectServerHandler } from './disconnect-server.command.js';
import { FinishAuthorizationHandler } from './finish-authorization.command.js';
import { Leadership } from './leadership.js';
import { OpenSessionOnServerRegistered } from './open-session.on-server-registered.js';
import { OwnAddress } from './own-address.js';
import { ReconcileSessionsHandler } from './reconcile-sessions.command.js';
import { ReconcileSessionsJob } from './reconcile-sessions.job.js';
import { ReopenSessionOnServerConnectionChanged } from './reopen-session.on-server-connection-changed.js';
import { ServerAuthorizations } from './server-authorizations.js';
import { SessionPool } from './session-pool.js';
import { SessionsController } from './sessions.controller.js';
import { UpstreamConnector } from './upstream-connector.js';

@Module({
  imports: [RegistryModule],
  controllers: [SessionsController, AuthorizationController, ConsentController],
  providers: [
    Leadership,
    OwnAddress,
    ServerAuthorizations,
    AuthorizeServerHandler,
    FinishAuthorizationHandler,
    UpstreamConnector,
    SessionPool,
    ReconcileSessionsJob,
    ReconcileSessionsHandler,
    ConnectServerHandler,
    DisconnectServerHandler,
    OpenSessionOnServerRegistered,
    ReopenSessionOnServerConnectionChanged,
    CloseSessionOnServerRemoved,
  ],
  exports: [SessionPool],
})
export class SessionsModule {}
