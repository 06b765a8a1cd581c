export { Catalogue } from './catalogue.js';
export { ApprovalOfTool } from './approval-of-tool.query.js';
export { ToolNotFound, ToolWithheld } from './catalogue.errors.js';
export { CatalogueModule } from './catalogue.module.js';
export {
  type AllTools,
  type CatalogueServer,
  type CatalogueSnapshot,
  type CatalogueTool,
  type ToolIndexes,
} from './catalogue-snapshot.js';
export {
  type DiscoveredTool,
  partsOf,
  type StoredTool,
  type ToolDiff,
  type ToolToWrite,
} from './tool-definition.js';
export { indexTools } from './snapshot/index-tools.js';
export { itemOf, parameterNames, textOfTool, wordsOf } from './tool-text.js';
export { TOOLS_CHANGED } from './refresh/follow-replicas.on-news.js';
export { TOOLS_MARK, ToolStore } from './tool.store.js';
export type { Withheld } from './withheld.js';
