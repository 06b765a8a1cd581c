import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Clock } from './clock.js';
import { Env, processVariables } from './config/env.js';
import { Variables } from './config/variables.js';
import { LogUnhandled } from './errors/log-unhandled.js';
import { FailPoints } from './fail-points.js';
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
        { provide: FailPoints, useValue: new FailPoints(env.MCP_AGGREGATOR_FAIL_POINT) },
        Clock,
        Metrics,
        LogUnhandled,
      ],
      exports: [Env, FailPoints, Variables, Clock, Metrics],
    };
  }
}
