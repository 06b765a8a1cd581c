export { AccessControl } from './authorize/access-control.js';
export {
  actorOf,
  CallerMay,
  callerMay,
  CurrentActor,
  Public,
  RequireScope,
} from './authorize/access.decorators.js';
export { ScopeMissing } from './access.errors.js';
export { AccessModule } from './access.module.js';
export { adminTokenNotice, clientSnippet } from './authenticate/admin-token.js';
export { AuditLosses } from './audit/audit-losses.js';
export { type AuditEntry, AuditStore } from './audit/audit.store.js';
export { type Actor, SYSTEM } from './authenticate/principal.js';
export { normalOrigin } from './authorize/request-origin.js';
export { Tokens } from './authenticate/tokens.js';
