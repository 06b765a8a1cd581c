import { Module } from '@nestjs/common';
import { CloseSessionOnServerRemoved } from './close-session.on-server-removed.js';
import { ConnectServerHandler } from './connect-server.command.js';
import { DisconnectServerHandler } from './disconnect-server.command.js';
import { KeepWantedServers } from './keep-wanted-servers.js';
import { OpenSessionOnServerRegistered } from './open-session.on-server-registered.js';
import { ReopenSessionOnServerConnectionChanged } from './reopen-session.on-server-connection-changed.js';
import { SessionPool } from './session-pool.js';
import { SessionsController } from './sessions.controller.js';
import { UpstreamConnector } from './upstream-connector.js';

@Module({
  controllers: [SessionsController],
  providers: [
    UpstreamConnector,
    SessionPool,
    KeepWantedServers,
    ConnectServerHandler,
    DisconnectServerHandler,
    OpenSessionOnServerRegistered,
    ReopenSessionOnServerConnectionChanged,
    CloseSessionOnServerRemoved,
  ],
  exports: [SessionPool],
})
export class SessionsModule {}
