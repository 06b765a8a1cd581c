import { Injectable } from '@nestjs/common';
import { counter, histogram, InjectMetric } from '@app/platform';
import type { Counter, Histogram } from 'prom-client';

const DURATION = 'mcp_aggregator_query_duration_seconds';
export const queryDuration = histogram({
  name: DURATION,
  help: 'Asking the servers of an aggregated query, until the last of them has an outcome',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10],
});

const SERVERS = 'mcp_aggregator_queried_servers_total';
export const queriedServers = counter({
  name: SERVERS,
  help: 'Outcomes of servers in aggregated queries',
  labelNames: ['server', 'status'],
});

const PLANS = 'mcp_aggregator_query_plans_total';
export const queryPlans = counter({
  name: PLANS,
  help: 'Choices of a language model for a server of an aggregated query; a failed one leaves the plain choice',
  labelNames: ['outcome'],
});

@Injectable()
export class QueryMetrics {
  constructor(
    @InjectMetric(DURATION) readonly duration: Histogram,
    @InjectMetric(SERVERS) readonly servers: Counter<'server' | 'status'>,
    @InjectMetric(PLANS) readonly plans: Counter<'outcome'>,
  ) {}
}
