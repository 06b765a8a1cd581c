import { Injectable } from '@nestjs/common';
import { Metrics } from '@app/platform';
import { Gauge } from 'prom-client';
import { ServerStore } from './server.store.js';

/** Counts read from the rows whenever the metrics are read. */
@Injectable()
export class RegistryMetrics {
  constructor(metrics: Metrics, servers: ServerStore) {
    const registers = [metrics.registry];
    const tools = new Gauge({
      name: 'mcp_aggregator_tools_total',
      help: 'Tools of all registered servers',
      registers,
    });
    const classified = new Gauge({
      name: 'mcp_aggregator_tools_classified',
      help: 'Tools that have at least one skill',
      registers,
    });
    new Gauge({
      name: 'mcp_aggregator_servers_total',
      help: 'Registered servers by status',
      labelNames: ['status'],
      registers,
      async collect() {
        const totals = await servers.totals();
        for (const [status, count] of Object.entries(totals.statuses)) {
          this.set({ status: status.toLowerCase() }, count);
        }
        tools.set(totals.tools);
        classified.set(totals.classified);
      },
    });
  }
}
