import { Injectable } from '@nestjs/common';
import { Metrics } from '@app/platform';
import { Histogram } from 'prom-client';

/** Seconds, as the monitoring contract names them. */
@Injectable()
export class CallMetrics {
  readonly routing: Histogram;
  readonly execution: Histogram<'server'>;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.routing = new Histogram({
      name: 'mcp_aggregator_routing_duration_seconds',
      help: 'Finding the server and the session for a tool call',
      buckets: [0.000_1, 0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 1],
      registers,
    });
    this.execution = new Histogram({
      name: 'mcp_aggregator_execution_duration_seconds',
      help: 'From sending a tool call to its server until the answer',
      labelNames: ['server'],
      buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    });
  }
}
