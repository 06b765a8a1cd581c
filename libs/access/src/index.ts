export { AccessControl } from './access-control.js';
export {
  actorOf,
  CallerMay,
  callerMay,
  CurrentActor,
  Public,
  RequireScope,
} from './access.decorators.js';
export { ScopeMissing } from './access.errors.js';
export { AccessModule } from './access.module.js';
export { adminTokenNotice, clientSnippet } from './admin-token.js';
export { type AuditEntry, AuditStore } from './audit.store.js';
export { type Actor, type Principal, SYSTEM } from './principal.js';
export { normalOrigin } from './request-origin.js';
export { Tokens } from './tokens.js';
