export { ClientGrantsEnded, TokensWithdrawn } from './access.events.js';
export { PersonConnectionChanged, ServerAuthorized } from './authorization.events.js';
export { CatalogueReplaced } from './catalogue.events.js';
export { SkillsChanged, ToolsClassified } from './classification.events.js';
export { ToolApproved, ToolQuarantined, ToolsDiscovered } from './discovery.events.js';
export { HEALTH_CHECK_FAILED, HealthFailed, HealthRecovered } from './health.events.js';
export {
  ServerConnectionChanged,
  ServerListsChanged,
  ServerRegistered,
  ServerRemoved,
  ServerUpdated,
  type ServerStatus,
  ServerWritten,
  ServerStatusChanged,
  type WrittenServer,
} from './registry.events.js';
export { PolicyChanged } from './policy.events.js';
export { SessionOpened, ToolListChanged } from './sessions.events.js';
