export { AuthorizationStore } from './credentials/authorization.store.js';
export { AuthorizationView, toAuthorizationView } from './credentials/authorization.dto.js';
export { ChangeServerStatus, type StatusChange } from './status/change-server-status.command.js';
export type { PersonalValues, ResolvedTransport } from './connection/resolve-config.js';
export { Deployment } from './connection/deployment.js';
export { CredentialVault } from './credentials/credential-vault.js';
export { credentialsOf } from './credentials/credentials.js';
export type { OAuthSettings } from './connection/oauth-settings.js';
export {
  type DiscoveredServer,
  DiscoveredServerStore,
  type WaitingServer,
} from './discovered-server.store.js';
export type { ExchangeSettings } from './connection/exchange-settings.js';
export { GetPersonalTemplate } from './read/get-personal-template.query.js';
export { GetServer } from './read/get-server.query.js';
export { ImportServers } from './register/import-servers.command.js';
export { ListPersonalServers, type PersonalServer } from './read/list-personal-servers.query.js';
export type { PersonalTemplate } from './credentials/personal-template.js';
export { ListServers } from './read/list-servers.query.js';
export { RecordHealth } from './status/record-health.command.js';
export { ServerNotFound, UnreadableCredentials, UnreadableServersFile } from './registry.errors.js';
export { refuseIfDisabled } from './refuse-if-disabled.js';
export { RegistryModule } from './registry.module.js';
export { RememberEra } from './status/remember-era.command.js';
export { RememberQuestions } from './status/remember-questions.command.js';
export { RemoveTools } from './change/remove-tools.command.js';
export { RenameTools } from './change/rename-tools.command.js';
export {
  type ResolvedTrial,
  ResolveTrial,
  type TrialConfig,
} from './connection/resolve-trial.query.js';
export { ResolveTransport } from './connection/resolve-transport.query.js';
export { RotateCredentials } from './credentials/rotate-credentials.command.js';
export { ImportPreviewDto } from './import/import.dto.js';
export { RegisterServerDto } from './servers.dto.js';
export { ForbiddenUrl, UnsetVariable } from './registry.errors.js';
export {
  readStoredServers,
  storedServerEntities,
  type StoredServer,
  type StoredServers,
} from './read/stored-servers.js';
export type { CredentialMode, Server } from './server.js';
export { ServerHistory } from './read/server-history.query.js';
export { ServerIdPipe } from './server-id.pipe.js';
export { type HistoryEntry, SERVERS_MARK } from './server.store.js';
export {
  isServing,
  isWithdrawn,
  nextStatus,
  type ServerStatus,
  type StatusSignal,
} from './status/server-status.js';
export { readServersFile } from './register/servers-file.js';
export { errorShown, type ListFailures } from './status/list-failures.js';
export { SetListFailure } from './status/set-list-failure.command.js';
export { SetOfferingWarnings } from './status/set-offering-warnings.command.js';
export { type ServerTools, ToolsOfServers } from './read/tools-of-servers.query.js';
export { type WithheldDefinitions, WithheldOfServer } from './read/withheld-of-server.query.js';
export { unlessRemoved } from './unless-removed.js';
