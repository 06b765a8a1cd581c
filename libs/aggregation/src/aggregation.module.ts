import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@app/discovery';
import { configuredLlm } from '@app/llm';
import { Clock, Env } from '@app/platform';
import { VectorsModule } from '@app/vectors';
import { ChangeServerSettingsHandler } from './change-server-settings.command.js';
import { FanOut } from './fan-out.js';
import { ImportQuerySettingsHandler } from './import-query-settings.command.js';
import { PublishQueryToolOnStart } from './publish-query-tool.on-start.js';
import { QueryController } from './query.controller.js';
import { QueryMetrics } from './query.metrics.js';
import { QueryPlanner } from './query-planner.js';
import { QueryServersHandler } from './query-servers.command.js';
import { QuerySettingsController } from './query-settings.controller.js';
import { QuerySettingsStore } from './query-settings.store.js';
import { QueryTool } from './query-tool.mcp.js';
import { ReplaceQueryRulesHandler } from './replace-query-rules.command.js';

@Module({
  imports: [DiscoveryModule, VectorsModule],
  controllers: [QueryController, QuerySettingsController],
  providers: [
    QuerySettingsStore,
    FanOut,
    QueryMetrics,
    {
      provide: QueryPlanner,
      inject: [Env, Clock, QueryMetrics],
      useFactory: configuredPlanner,
    },
    QueryTool,
    PublishQueryToolOnStart,
    QueryServersHandler,
    ReplaceQueryRulesHandler,
    ChangeServerSettingsHandler,
    ImportQuerySettingsHandler,
  ],
  exports: [QueryTool],
})
export class AggregationModule {}

async function configuredPlanner(
  env: Env,
  clock: Clock,
  metrics: QueryMetrics,
): Promise<QueryPlanner> {
  const llm = env.MCP_AGGREGATOR_QUERY_PLANNER ? await configuredLlm(env) : undefined;
  return new QueryPlanner(llm, clock, metrics);
}
