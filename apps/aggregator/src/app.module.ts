import { type DynamicModule, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AccessModule } from '@app/access';
import { DatabaseModule, type Env, PlatformModule } from '@app/platform';
import { DiscoveryModule } from '@app/discovery';
import { HealthModule } from '@app/health';
import { RegistryModule } from '@app/registry';
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
        AccessModule, // who may do what, and who did
        RegistryModule, // 1 register
        SessionsModule, // 2 connect, keep, reconnect
        DiscoveryModule, // 3 discover tools, keep the catalogue
        SearchModule, // 5 find a tool
        HealthModule, // how the service and its servers are
      ],
    };
  }
}
