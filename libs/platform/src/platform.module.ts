import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Clock } from './work/clock.js';
import { Env, processVariables } from './config/env.js';
import { Variables } from './config/variables.js';
import { ListenerNames } from './errors/listener-names.js';
import { Egress } from './egress/egress.js';
import { egressPolicy } from './egress/egress-policy.js';
import { eventFailures, LogUnhandled } from './errors/log-unhandled.js';
import { FailPoints } from './fail-points.js';
import { ClientLimits, clientLimitsReached } from './http/client-limits.js';
import { Drain } from './http/drain.js';
import { UnsentBytes } from './http/unsent-bytes.js';
import { unsentBytes, unsentBytesHeld } from './http/unsent-bytes.provider.js';
import { ServerSeries } from './metrics/server-series.js';
import { serviceInfo } from './metrics/service-info.metric.js';
import { spansCounted, Tracing } from './tracing/tracing.js';
import { Signals } from './signals.js';
import { Upkeep } from './database/connections/upkeep.js';

/** Shared by every lib: settings, clock, registry of metrics. */
@Global()
@Module({})
export class PlatformModule {
  static forRoot(env: Env): DynamicModule {
    return {
      module: PlatformModule,
      imports: [DiscoveryModule],
      providers: [
        { provide: Env, useValue: env },
        { provide: Variables, useValue: new Variables(processVariables) },
        { provide: Egress, useValue: new Egress(egressPolicy(env)) },
        { provide: FailPoints, useValue: new FailPoints(env.MCP_AGGREGATOR_FAIL_POINT) },
        { provide: Registry, useFactory: newRegistry },
        serviceInfo,
        ServerSeries,
        Clock,
        ListenerNames,
        clientLimitsReached,
        ClientLimits,
        Drain,
        unsentBytes,
        unsentBytesHeld,
        eventFailures,
        LogUnhandled,
        Signals,
        Upkeep,
        spansCounted,
        Tracing,
      ],
      exports: [
        Egress,
        Env,
        FailPoints,
        Variables,
        Clock,
        Registry,
        ServerSeries,
        ClientLimits,
        Drain,
        UnsentBytes,
        Signals,
        Upkeep,
        Tracing,
      ],
    };
  }
}

function newRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}
