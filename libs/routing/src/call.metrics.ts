import { Injectable } from '@nestjs/common';
import { histogram, InjectMetric } from '@app/platform';
import type { Histogram } from 'prom-client';

const ROUTING = 'mcp_aggregator_routing_duration_seconds';
export const routingDuration = histogram({
  name: ROUTING,
  help: 'Finding the server and the session for a tool call',
  buckets: [0.000_1, 0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 1],
});

const EXECUTION = 'mcp_aggregator_execution_duration_seconds';
export const executionDuration = histogram({
  name: EXECUTION,
  help: 'From sending a tool call to its server until the answer',
  labelNames: ['server'],
  buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
});

/** Histograms of tool call durations in seconds, named as in the monitoring contract. */
@Injectable()
export class CallMetrics {
  constructor(
    @InjectMetric(ROUTING) readonly routing: Histogram,
    @InjectMetric(EXECUTION) readonly execution: Histogram<'server'>,
  ) {}
}
