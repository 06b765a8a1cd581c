import { Module } from '@nestjs/common';
import { ConsentRoutes } from './consent/consent.routes.js';
import { PasswordRoutes } from './consent/password.routes.js';
import { AccessTokens } from './grants/access-tokens.js';
import { GiveClientGrantHandler } from './grants/give-client-grant.command.js';
import { OAuthGrantsController } from './grants/client-grants.controller.js';
import { IdentityProvider } from './identity/identity-provider.js';
import { IdentityRoutes } from './identity/identity.routes.js';
import { LiveGrants } from './grants/live-grants.js';
import { ReloadClientGrantsOnReplicaNews } from './grants/reload-client-grants.on-replica-news.js';
import { SyncClientGrantsJob } from './grants/sync-client-grants.job.js';
import { WithdrawClientGrantHandler } from './grants/withdraw-client-grant.command.js';
import { ReloadSigningKeysOnReplicaNews } from './keys/reload-signing-keys.on-replica-news.js';
import { RotateSigningKeyHandler } from './keys/rotate-signing-key.command.js';
import { SigningKeysController } from './keys/signing-keys.controller.js';
import { OAuthRoutes } from './oauth.routes.js';
import { AuthorizationServer } from './provider/authorization-server.js';
import { ClientDocuments } from './provider/client-documents.js';
import { SigningKeys } from './keys/signing-keys.js';
import { OAuthRowsModule } from './rows/oauth-rows.module.js';

/** An authorization server for MCP clients, if `MCP_AGGREGATOR_OAUTH` and the public address allow it. */
@Module({
  imports: [OAuthRowsModule],
  controllers: [OAuthGrantsController, SigningKeysController],
  providers: [
    AccessTokens,
    AuthorizationServer,
    ClientDocuments,
    ConsentRoutes,
    GiveClientGrantHandler,
    IdentityProvider,
    IdentityRoutes,
    LiveGrants,
    OAuthRoutes,
    PasswordRoutes,
    ReloadClientGrantsOnReplicaNews,
    ReloadSigningKeysOnReplicaNews,
    RotateSigningKeyHandler,
    SigningKeys,
    SyncClientGrantsJob,
    WithdrawClientGrantHandler,
  ],
})
export class OAuthModule {}
