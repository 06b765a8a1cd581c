import { type DynamicModule, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ScheduleModule } from '@nestjs/schedule';
import { AccessModule, ConsoleAccessModule } from '@app/access';
import { ActivityModule } from '@app/activity';
import { ApprovalsModule } from '@app/approvals';
import { AggregationModule } from '@app/aggregation';
import { ClassificationModule } from '@app/classification';
import { CatalogueModule } from '@app/catalogue';
import { DatabaseModule, type Env, PlatformModule } from '@app/platform';
import { DiscoveryModule } from '@app/discovery';
import { GatewayModule } from '@app/gateway';
import { HealthModule } from '@app/health';
import { LearningModule } from '@app/learning';
import { OperationsModule } from '@app/operations';
import { AuthorizationModule } from '@app/authorization';
import { OAuthModule } from '@app/oauth';
import { PolicyModule } from '@app/policy';
import { RegistryModule } from '@app/registry';
import { ResultsModule } from '@app/results';
import { RoutingModule } from '@app/routing';
import { SearchModule } from '@app/search';
import { SessionsModule } from '@app/sessions';
import { WebhooksModule } from '@app/webhooks';
import { migrations } from '../../../migrations/index.js';

/** All modules, in the order of the data flow. */
@Module({})
export class AppModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(env), // settings and time
        DatabaseModule.forRoot(migrations), // rows are the truth
        CqrsModule.forRoot(), // commands and queries go down, events go up
        ScheduleModule.forRoot(), // periodic jobs
        AccessModule, // authentication, scopes, audit
        ...(env.MCP_AGGREGATOR_CONSOLE ? [ConsoleAccessModule] : []), // logins of browsers
        RegistryModule, // 1 register
        AuthorizationModule, // OAuth towards servers
        OAuthModule, // OAuth towards clients
        SessionsModule, // 2 connect, keep, reconnect
        CatalogueModule, // in-memory servers and tools that the modules below read
        PolicyModule, // who sees and calls which tools, under which names
        ActivityModule, // who listens to what happens, and calls counted over time
        WebhooksModule, // the same events for programs outside
        ApprovalsModule, // definitions that are offered only after a person approved them
        DiscoveryModule, // 3 ask servers for their tools
        ClassificationModule, // 4 skills
        LearningModule, // which tools were used after which queries
        SearchModule, // 5 find a tool
        ResultsModule, // budgets of results, and what they leave out
        RoutingModule, // 6 route and call
        AggregationModule, // 7 ask many servers, rank, dedupe
        GatewayModule, // 8 the MCP endpoint: all of the above for MCP clients
        HealthModule, // health of the service and its servers
        OperationsModule, // backup, configuration read again
      ],
    };
  }
}
