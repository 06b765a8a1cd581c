export { AggregationModule } from './aggregation.module.js';
export { AllServersFailed, InvalidQuery } from './aggregation.errors.js';
export { ImportQuerySettings } from './settings/import-query-settings.command.js';
export { readQuerySettings } from './settings/query-settings-file.js';
export { QueryTool } from './ask/query-tool.mcp.js';
