import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { RegistryModule } from '@app/registry';
import { SessionsModule } from '@app/sessions';
import { ChangeStatusOnHealthChanges } from './check/change-status.on-health-changes.js';
import { checkDuration, checkFailures, CheckMetrics } from './check/check.metrics.js';
import { CheckServersHandler } from './check/check-servers.command.js';
import { CheckServersJob } from './check/check-servers.job.js';
import { HealthChecks } from './check/health-checks.js';
import { HealthController } from './report/health.controller.js';
import {
  DatabaseIndicator,
  QdrantIndicator,
  ReadinessIndicator,
  ServersIndicator,
  StoppingIndicator,
} from './report/health-indicators.js';
import { ForgetProbesOnServerRemoved } from './history/forget-probes.on-server-removed.js';
import { HealthHistoryController } from './history/health-history.controller.js';
import { ProbeHistory } from './history/probe-history.js';
import { MetricsController } from './metrics/metrics.controller.js';
import { RemoveSeriesOnServerChanges } from './metrics/remove-series.on-server-changes.js';
import { consecutiveFailures, ScrapedServers, serversWanted } from './metrics/scraped-servers.js';
import { SettingsController } from './settings/settings.controller.js';
import { ServerHealthController } from './check/server-health.controller.js';
import { ServerProbe } from './check/server-probe.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), RegistryModule, SessionsModule],
  controllers: [
    HealthController,
    MetricsController,
    ServerHealthController,
    HealthHistoryController,
    SettingsController,
  ],
  providers: [
    HealthChecks,
    DatabaseIndicator,
    QdrantIndicator,
    ReadinessIndicator,
    ServersIndicator,
    StoppingIndicator,
    ServerProbe,
    checkDuration,
    checkFailures,
    CheckMetrics,
    ProbeHistory,
    ForgetProbesOnServerRemoved,
    CheckServersHandler,
    CheckServersJob,
    ScrapedServers,
    serversWanted,
    consecutiveFailures,
    RemoveSeriesOnServerChanges,
    ChangeStatusOnHealthChanges,
  ],
})
export class HealthModule {}
