import { Injectable } from '@nestjs/common';
import { Metrics } from '@app/platform';
import { Counter, Histogram } from 'prom-client';

@Injectable()
export class QueryMetrics {
  readonly duration: Histogram;
  readonly servers: Counter<'server' | 'status'>;
  readonly plans: Counter<'outcome'>;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.duration = new Histogram({
      name: 'mcp_aggregator_query_duration_seconds',
      help: 'Asking the servers of an aggregated query, until the last of them has an outcome',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10],
      registers,
    });
    this.servers = new Counter({
      name: 'mcp_aggregator_queried_servers_total',
      help: 'Outcomes of servers in aggregated queries',
      labelNames: ['server', 'status'],
      registers,
    });
    this.plans = new Counter({
      name: 'mcp_aggregator_query_plans_total',
      help: 'Choices of a language model for a server of an aggregated query; a failed one leaves the plain choice',
      labelNames: ['outcome'],
      registers,
    });
  }
}
