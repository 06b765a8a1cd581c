import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { AuthorizationController, ConsentController } from './consent/authorization.controller.js';
import { AuthorizeServerHandler } from './consent/authorize-server.command.js';
import { FinishAuthorizationHandler } from './consent/finish-authorization.command.js';
import { OwnAddress } from './consent/own-address.js';
import { ServerAuthorizations } from './server-authorizations.js';

@Module({
  imports: [RegistryModule],
  controllers: [AuthorizationController, ConsentController],
  providers: [OwnAddress, ServerAuthorizations, AuthorizeServerHandler, FinishAuthorizationHandler],
  exports: [OwnAddress, ServerAuthorizations],
})
export class AuthorizationModule {}
