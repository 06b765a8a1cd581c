import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { RegistryModule } from '@app/registry';
import { SessionsModule } from '@app/sessions';
import { CheckMetrics } from './check.metrics.js';
import { CheckServersHandler } from './check-servers.command.js';
import { CheckServersJob } from './check-servers.job.js';
import { ForgetMetricsOnServerChanges } from './forget-metrics.on-server-changes.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { ServerHealthController } from './server-health.controller.js';
import { ServerProbe } from './server-probe.js';

@Module({
  imports: [TerminusModule, RegistryModule, SessionsModule],
  controllers: [HealthController, MetricsController, ServerHealthController],
  providers: [
    ServerProbe,
    CheckMetrics,
    CheckServersHandler,
    CheckServersJob,
    ForgetMetricsOnServerChanges,
  ],
})
export class HealthModule {}
