import { Injectable } from '@nestjs/common';
import { counter, gauge, InjectMetric } from '@app/platform';
import type { Counter, Gauge } from 'prom-client';
import type { Server } from '@app/registry';
import type { ProbeOutcome } from './health-verdict.js';

type CheckedServer = Pick<Server, 'id' | 'name'>;
type FailureCount = Pick<Server, 'consecutiveFailures'>;

const DURATION = 'mcp_aggregator_health_check_duration_seconds';
export const checkDuration = gauge({
  name: DURATION,
  help: 'How long the last successful health check took',
  labelNames: ['server'],
});

const FAILURES = 'mcp_aggregator_health_check_failures_total';
export const checkFailures = counter({
  name: FAILURES,
  help: 'Failed health checks',
  labelNames: ['server'],
});

@Injectable()
export class CheckMetrics {
  /** Consecutive failures by server, for those this process has checked. */
  private readonly inARow = new Map<string, number>();

  constructor(
    @InjectMetric(DURATION) private readonly duration: Gauge<'server'>,
    @InjectMetric(FAILURES) private readonly failures: Counter<'server'>,
  ) {}

  observe({ id, name: server }: CheckedServer, outcome: ProbeOutcome): void {
    if (outcome.kind === 'healthy') {
      this.inARow.delete(id);
      this.duration.set({ server }, outcome.responseTimeMs / 1_000);
    } else if (outcome.kind === 'failed') {
      this.inARow.set(id, (this.inARow.get(id) ?? 0) + 1);
      this.failures.inc({ server });
    }
  }

  /**
   * Consecutive failed checks, reconnects included. The row is reset to 0 with each new session: for a server that
   * reconnects at once, the third failure would be gone before the next scrape.
   */
  failuresInARow({ id, consecutiveFailures }: CheckedServer & FailureCount): number {
    return Math.max(consecutiveFailures, this.inARow.get(id) ?? 0);
  }

  /** Forgets all other servers: they were removed, or disconnected on purpose. */
  keepOnly(servers: readonly CheckedServer[]): void {
    const ids = new Set(servers.map(({ id }) => id));
    for (const id of this.inARow.keys()) if (!ids.has(id)) this.inARow.delete(id);
  }
}
