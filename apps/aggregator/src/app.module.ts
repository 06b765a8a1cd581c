import { type DynamicModule, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ScheduleModule } from '@nestjs/schedule';
import { AccessModule } from '@app/access';
import { AggregationModule } from '@app/aggregation';
import { ClassificationModule } from '@app/classification';
import { DatabaseModule, type Env, PlatformModule } from '@app/platform';
import { DiscoveryModule } from '@app/discovery';
import { GatewayModule } from '@app/gateway';
import { HealthModule } from '@app/health';
import { RegistryModule } from '@app/registry';
import { RoutingModule } from '@app/routing';
import { SearchModule } from '@app/search';
import { SessionsModule } from '@app/sessions';
import { migrations } from '../../../migrations/index.js';

/** The table of contents, in the order of the flow. */
@Module({})
export class AppModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(env), // settings and time
        DatabaseModule.forRoot(migrations), // rows are the truth
        CqrsModule.forRoot(), // calls go down, events go up
        ScheduleModule.forRoot(), // what is done again and again
        AccessModule, // who may do what, and who did
        RegistryModule, // 1 register
        SessionsModule, // 2 connect, keep, reconnect
        DiscoveryModule, // 3 discover tools, keep the catalogue
        ClassificationModule, // 4 skills
        SearchModule, // 5 find a tool
        RoutingModule, // 6 route and call
        AggregationModule, // 7 ask many servers, rank, dedupe
        GatewayModule, // 8 the MCP endpoint: all of the above for MCP clients
        HealthModule, // how the service and its servers are
      ],
    };
  }
}
