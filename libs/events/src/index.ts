export { SkillsChanged, ToolsClassified } from './classification.events.js';
export { DiscoveryProgressed, ToolsDiscovered } from './discovery.events.js';
export {
  ServerConnectionChanged,
  ServerRegistered,
  ServerRemoved,
  ServerUpdated,
  ServerStatusChanged,
} from './registry.events.js';
export { SessionLost, SessionOpened, ToolListChanged } from './sessions.events.js';
