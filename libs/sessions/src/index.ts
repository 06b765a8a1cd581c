export { ConnectServer } from './connect-server.command.js';
export { DisconnectServer } from './disconnect-server.command.js';
export { type ServerNotice, SessionPool, type ServerQuestion } from './session-pool.js';
export { ServerUnavailable } from './sessions.errors.js';
export { SessionsModule } from './sessions.module.js';
