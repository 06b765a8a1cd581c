import { Injectable } from '@nestjs/common';
import { Metrics } from '@app/platform';
import { Counter, Gauge } from 'prom-client';
import type { ProbeOutcome } from './verdict.js';

@Injectable()
export class CheckMetrics {
  private readonly duration: Gauge<'server'>;
  private readonly failures: Counter<'server'>;

  constructor(metrics: Metrics) {
    const registers = [metrics.registry];
    this.duration = new Gauge({
      name: 'mcp_aggregator_health_check_duration_seconds',
      help: 'How long the last successful health check took',
      labelNames: ['server'],
      registers,
    });
    this.failures = new Counter({
      name: 'mcp_aggregator_health_check_failures_total',
      help: 'Failed health checks',
      labelNames: ['server'],
      registers,
    });
  }

  observe(server: string, outcome: ProbeOutcome): void {
    if (outcome.kind === 'healthy') {
      this.duration.set({ server }, outcome.responseTimeMs / 1_000);
    } else if (outcome.kind === 'failed') this.failures.inc({ server });
  }

  /** Counters may begin anew at any time; those who read them expect that. */
  forgetAll(): void {
    this.duration.reset();
    this.failures.reset();
  }
}
