import { Module } from '@nestjs/common';
import { ActivityModule } from '@app/activity';
import { CatalogueModule } from '@app/catalogue';
import { PolicyModule } from '@app/policy';
import { configuredLlm } from '@app/llm';
import { Clock, Env } from '@app/platform';
import { VectorsModule } from '@app/vectors';
import { ChangeServerSettingsHandler } from './settings/change-server-settings.command.js';
import { FanOut } from './fan-out/fan-out.js';
import { ImportQuerySettingsHandler } from './settings/import-query-settings.command.js';
import { PublishQueryToolOnStart } from './ask/publish-query-tool.on-start.js';
import { QueryController } from './ask/query.controller.js';
import { queriedServers, queryDuration, QueryMetrics, queryPlans } from './ask/query.metrics.js';
import { LlmPlanner } from './choose/llm-planner.js';
import { QueryServersHandler } from './ask/query-servers.command.js';
import { QuerySettingsController } from './settings/query-settings.controller.js';
import { QuerySettings } from './settings/query-settings.js';
import { QuerySettingsStore } from './settings/query-settings.store.js';
import { QueryTool } from './ask/query-tool.mcp.js';
import { LoadQuerySettingsOnStart } from './settings/load-query-settings.on-start.js';
import { ReloadQuerySettingsJob } from './settings/reload-query-settings.job.js';
import { ReloadQuerySettingsOnReplicaNews } from './settings/reload-query-settings.on-replica-news.js';
import { ReplaceQueryRulesHandler } from './settings/replace-query-rules.command.js';

@Module({
  imports: [ActivityModule, CatalogueModule, PolicyModule, VectorsModule],
  controllers: [QueryController, QuerySettingsController],
  providers: [
    QuerySettingsStore,
    QuerySettings,
    LoadQuerySettingsOnStart,
    ReloadQuerySettingsOnReplicaNews,
    ReloadQuerySettingsJob,
    FanOut,
    queryDuration,
    queriedServers,
    queryPlans,
    QueryMetrics,
    {
      provide: LlmPlanner,
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

function configuredPlanner(env: Env, clock: Clock, metrics: QueryMetrics): LlmPlanner {
  const llm = env.MCP_AGGREGATOR_QUERY_PLANNER ? configuredLlm(env) : undefined;
  return new LlmPlanner(llm, clock, metrics);
}
