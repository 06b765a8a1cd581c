export type { ServerNotice } from './keep/server-notices.js';
export { ServerRetries } from './keep/server-retries.js';
export {
  callerIn,
  failureData,
  type LevelWish,
  levelWishIn,
  ofServer,
  PASSED_PATH,
  type PassedCaller,
  refuseAsTold,
  WITHOUT_CALLER,
} from './pass/passed-request.js';
export { PassedSession } from './pass/passed-session.js';
export { NotHere, StdioPlace } from './pass/stdio-place.js';
export { type CallerSession, CallerSessions } from './persons/caller-sessions.js';
export { PersonSessions } from './persons/person-sessions.js';
export { SessionPool, type ServerRoots } from './keep/session-pool.js';
export { ServerUnavailable } from './sessions.errors.js';
export { TrialConnector } from './connect/trial-connector.js';
export { SessionsModule } from './sessions.module.js';
