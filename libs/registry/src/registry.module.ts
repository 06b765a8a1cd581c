import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthorizationStore } from './credentials/authorization.store.js';
import { ChangeServerStatusHandler } from './status/change-server-status.command.js';
import { CredentialVault } from './credentials/credential-vault.js';
import { DiscoveredServerStore } from './discovered-server.store.js';
import { Deployment } from './connection/deployment.js';
import { GetPersonalTemplateHandler } from './read/get-personal-template.query.js';
import { GetServerHandler } from './read/get-server.query.js';
import { ImportServersHandler } from './register/import-servers.command.js';
import { ImportController } from './import/import.controller.js';
import { ImportPastedHandler } from './import/import-pasted.command.js';
import { PlanImportHandler } from './import/plan-import.query.js';
import { ListPersonalServersHandler } from './read/list-personal-servers.query.js';
import { ListServersHandler } from './read/list-servers.query.js';
import { RecordHealthHandler } from './status/record-health.command.js';
import { RegisterServerHandler } from './register/register-server.command.js';
import { registryMetrics, ScrapedStatuses } from './registry.metrics.js';
import { RememberEraHandler } from './status/remember-era.command.js';
import { RememberQuestionsHandler } from './status/remember-questions.command.js';
import { RemoveServerHandler } from './change/remove-server.command.js';
import { ResolveTransportHandler } from './connection/resolve-transport.query.js';
import { ResolveTrialHandler } from './connection/resolve-trial.query.js';
import { RotateCredentialsHandler } from './credentials/rotate-credentials.command.js';
import { ServerEntity } from './server.entity.js';
import { ServerSecrets } from './credentials/server-secrets.js';
import { ServerHistoryHandler } from './read/server-history.query.js';
import { ServerStore } from './server.store.js';
import { ServersController } from './servers.controller.js';
import { SetListFailureHandler } from './status/set-list-failure.command.js';
import { SetOfferingWarningsHandler } from './status/set-offering-warnings.command.js';
import { UpdateServerHandler } from './change/update-server.command.js';

@Module({
  imports: [TypeOrmModule.forFeature([ServerEntity])],
  controllers: [ImportController, ServersController],
  providers: [
    CredentialVault,
    Deployment,
    ServerStore,
    DiscoveredServerStore,
    AuthorizationStore,
    ServerSecrets,
    ScrapedStatuses,
    ...registryMetrics,
    RegisterServerHandler,
    UpdateServerHandler,
    RemoveServerHandler,
    ChangeServerStatusHandler,
    RecordHealthHandler,
    RememberEraHandler,
    RememberQuestionsHandler,
    SetListFailureHandler,
    SetOfferingWarningsHandler,
    RotateCredentialsHandler,
    ImportServersHandler,
    PlanImportHandler,
    ImportPastedHandler,
    GetPersonalTemplateHandler,
    GetServerHandler,
    ListPersonalServersHandler,
    ListServersHandler,
    ServerHistoryHandler,
    ResolveTransportHandler,
    ResolveTrialHandler,
  ],
  exports: [AuthorizationStore, CredentialVault, Deployment, DiscoveredServerStore],
})
export class RegistryModule {}
