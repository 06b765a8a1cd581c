export { Catalogue } from './catalogue.js';
export type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from './catalogue-snapshot.js';
export { DiscoveryModule } from './discovery.module.js';
export { PublishOwnTools } from './publish-own-tools.command.js';
export { parameterDescriptions, parameterNames, textOfTool } from './tool-item.js';
