export { CurrentActor, Public, RequireScope } from './access.decorators.js';
export { AccessModule } from './access.module.js';
export { type AuditEntry, AuditStore } from './audit.store.js';
export { type Actor, type Principal, SYSTEM } from './principal.js';
