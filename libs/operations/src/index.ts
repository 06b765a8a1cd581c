export { OperationsModule } from './operations.module.js';
export { ReloadConfiguration } from './reload-configuration.command.js';
export { reloadOnHangup } from './reload-on-hangup.js';
