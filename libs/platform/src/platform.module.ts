import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { Env, processVariables } from './config/env.js';
import { Variables } from './config/variables.js';
import { LogUnhandled } from './errors/log-unhandled.js';
import { Metrics } from './metrics/metrics.js';

/** What every lib may ask for: settings, time, a place for its metrics. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: PlatformModule,
      providers: [
        { provide: Env, useValue: env },
        { provide: Variables, useValue: new Variables(processVariables) },
        Clock,
        Metrics,
        LogUnhandled,
      ],
      exports: [Env, Variables, Clock, Metrics],
    };
  }
}
