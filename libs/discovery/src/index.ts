export { DiscoverTools } from './discover-tools.command.js';
export { DiscoveryModule } from './discovery.module.js';
export { PublishOwnTools } from './publish/publish-own-tools.command.js';
export { definitionProblem, readTools } from './tool.js';
export { inWords, type Repaired } from './repair/members.js';
export { repairPrompt, repairResource } from './repair/repair-offered.js';
