export {
  type AuthorizationQuestion,
  AuthorizationStore,
  type StoredAuthorization,
} from './authorization.store.js';
export { AuthorizationView, toAuthorizationView } from './authorization.dto.js';
export { ChangeServerStatus, type StatusChange } from './change-server-status.command.js';
export type { ResolvedTransport, TransportType } from './connection-config.js';
export { GetServer } from './get-server.query.js';
export { ImportServers } from './import-servers.command.js';
export { ListServers } from './list-servers.query.js';
export { RecordHealth } from './record-health.command.js';
export { RegisterServer } from './register-server.command.js';
export { ServerNotFound } from './registry.errors.js';
export { RegistryModule } from './registry.module.js';
export { RememberEra } from './remember-era.command.js';
export { ResolveTransport } from './resolve-transport.query.js';
export { RotateCredentials } from './rotate-credentials.command.js';
export type { ProtocolEra, Server } from './server.js';
export { ServerIdPipe } from './server-id.pipe.js';
export {
  isServing,
  nextStatus,
  type ServerStatus,
  serverStatuses,
  type StatusSignal,
} from './server-status.js';
export { type FileEntry, readServersFile } from './servers-file.js';
export { SetServerWarnings } from './set-server-warnings.command.js';
