export { AggregationModule } from './aggregation.module.js';
export { AllServersFailed, InvalidQuestion } from './aggregation.errors.js';
export { ImportQuerySettings } from './import-query-settings.command.js';
export { QueryTool } from './query-tool.mcp.js';
