import { Injectable } from '@nestjs/common';
import { Clock, DatabaseUnavailable, gauge, within } from '@app/platform';
import type { ServerStatus } from './status/server-status.js';
import { ServerStore } from './server.store.js';

type Statuses = Readonly<Record<ServerStatus, number>>;

/** Prometheus aborts a scrape after 10 s by default: a database that hangs must not block the other metrics. */
const READ_WITHIN_MS = 2_000;

/** Server counts, read once per scrape for all gauges; undefined while the database does not answer. */
@Injectable()
export class ScrapedStatuses {
  private reading: Promise<Statuses | undefined> | undefined;

  constructor(
    private readonly servers: ServerStore,
    private readonly clock: Clock,
  ) {}

  read(): Promise<Statuses | undefined> {
    this.reading ??= within(this.clock, READ_WITHIN_MS, this.statuses()).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async statuses(): Promise<Statuses | undefined> {
    try {
      return await this.servers.countByStatus();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return undefined;
      throw error;
    }
  }
}

/** While the database is down, `servers_total` keeps the values of the last successful scrape. */
export const registryMetrics = [
  gauge({
    name: 'mcp_aggregator_database_up',
    help: 'Whether the database answered when the metrics were read',
    inject: [ScrapedStatuses],
    async collect(statuses: ScrapedStatuses) {
      this.set((await statuses.read()) ? 1 : 0);
    },
  }),
  gauge({
    name: 'mcp_aggregator_servers_total',
    help: 'Registered servers by status',
    labelNames: ['status'],
    inject: [ScrapedStatuses],
    async collect(statuses: ScrapedStatuses) {
      const counted = await statuses.read();
      for (const [status, count] of Object.entries(counted ?? {})) {
        this.set({ status: status.toLowerCase() }, count);
      }
    },
  }),
];
