import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthorizationStore } from './authorization.store.js';
import { ChangeServerStatusHandler } from './change-server-status.command.js';
import { CredentialVault } from './credential-vault.js';
import { GetServerHandler } from './get-server.query.js';
import { ImportServersHandler } from './import-servers.command.js';
import { ListServersHandler } from './list-servers.query.js';
import { RecordHealthHandler } from './record-health.command.js';
import { RegisterServerHandler } from './register-server.command.js';
import { RegistryMetrics } from './registry.metrics.js';
import { RememberEraHandler } from './remember-era.command.js';
import { RemoveServerHandler } from './remove-server.command.js';
import { ResolveTransportHandler } from './resolve-transport.query.js';
import { RotateCredentialsHandler } from './rotate-credentials.command.js';
import { ServerEntity } from './server.entity.js';
import { ServerSecrets } from './server-secrets.js';
import { ServerStore } from './server.store.js';
import { ServersController } from './servers.controller.js';
import { SetServerWarningsHandler } from './set-server-warnings.command.js';
import { SettingsStore } from './settings.store.js';
import { StateController } from './state.controller.js';
import { UpdateServerHandler } from './update-server.command.js';

@Module({
  imports: [TypeOrmModule.forFeature([ServerEntity])],
  controllers: [ServersController, StateController],
  providers: [
    SettingsStore,
    CredentialVault,
    ServerStore,
    AuthorizationStore,
    ServerSecrets,
    RegistryMetrics,
    RegisterServerHandler,
    UpdateServerHandler,
    RemoveServerHandler,
    ChangeServerStatusHandler,
    RecordHealthHandler,
    RememberEraHandler,
    SetServerWarningsHandler,
    RotateCredentialsHandler,
    ImportServersHandler,
    GetServerHandler,
    ListServersHandler,
    ResolveTransportHandler,
  ],
  exports: [AuthorizationStore],
})
export class RegistryModule {}
