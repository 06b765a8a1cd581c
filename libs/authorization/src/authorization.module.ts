import { Module } from '@nestjs/common';
import { PolicyModule } from '@app/policy';
import { RegistryModule } from '@app/registry';
import { AuthorizationController, ConsentController } from './consent/authorization.controller.js';
import { AuthorizeServerHandler } from './consent/authorize-server.command.js';
import { FinishAuthorizationHandler } from './consent/finish-authorization.command.js';
import { OwnAddress } from './consent/own-address.js';
import { ConnectPersonHandler } from './persons/connect-person.command.js';
import {
  ConnectionsController,
  PersonConnectionsController,
} from './persons/connections.controller.js';
import { EndConnectionHandler } from './persons/end-connection.command.js';
import { ExchangedTokens } from './persons/exchanged-tokens.js';
import { ForgetPeopleJob } from './persons/forget-people.job.js';
import { ForgetPeopleOnTokensWithdrawn } from './persons/forget-people.on-tokens-withdrawn.js';
import { ConnectPageController } from './persons/page/connect-page.controller.js';
import { FinishPersonalConsentHandler } from './persons/page/finish-personal-consent.command.js';
import { StartPersonalConsentHandler } from './persons/page/start-personal-consent.command.js';
import { PersonCredentials } from './persons/person-credentials.js';
import { PersonRowsModule } from './persons/person-rows.module.js';
import { ServerAuthorizations } from './server-authorizations.js';

@Module({
  imports: [PersonRowsModule, PolicyModule, RegistryModule],
  controllers: [
    AuthorizationController,
    ConnectPageController,
    ConnectionsController,
    ConsentController,
    PersonConnectionsController,
  ],
  providers: [
    OwnAddress,
    ServerAuthorizations,
    ExchangedTokens,
    PersonCredentials,
    ForgetPeopleJob,
    ForgetPeopleOnTokensWithdrawn,
    AuthorizeServerHandler,
    FinishAuthorizationHandler,
    ConnectPersonHandler,
    StartPersonalConsentHandler,
    FinishPersonalConsentHandler,
    EndConnectionHandler,
  ],
  exports: [OwnAddress, PersonCredentials, ServerAuthorizations],
})
export class AuthorizationModule {}
