import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { AppError, Clock, gauge, ServerSeries, within } from '@app/platform';
import { ListServers, type Server } from '@app/registry';
import { CheckMetrics } from '../check/check.metrics.js';

/** Prometheus aborts a scrape after 10 s by default: a database that hangs must not block the other metrics. */
const READ_WITHIN_MS = 2_000;

/** The servers as read at this scrape, or at the last scrape that could read them. */
@Injectable()
export class ScrapedServers {
  private servers: readonly Server[] = [];

  constructor(
    private readonly queries: QueryBus,
    private readonly series: ServerSeries,
    private readonly clock: Clock,
  ) {}

  /** Wanted servers only: a server that was disconnected on purpose raises no alert. */
  get wanted(): readonly Server[] {
    return this.servers.filter((server) => server.wanted);
  }

  /**
   * Runs before each scrape. Also removes the series of names without a row: after a removal or rename, also by
   * another replica, or when a call ended after its server was removed.
   */
  async refresh(): Promise<void> {
    const servers = await within(this.clock, READ_WITHIN_MS, this.read());
    if (!servers) return;
    this.servers = servers;
    await this.series.keepOnly(new Set(servers.map(({ name }) => name)));
  }

  private async read(): Promise<readonly Server[] | undefined> {
    try {
      return await this.queries.execute(new ListServers());
    } catch (error) {
      // The database is unreachable, or a row was encrypted with another key: the other metrics are still exported.
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }
}

export const serversWanted = gauge({
  name: 'mcp_aggregator_servers_wanted',
  help: 'Registered servers that should be connected; those disconnected on purpose are not counted',
  inject: [ScrapedServers],
  collect(servers: ScrapedServers) {
    this.set(servers.wanted.length);
  },
});

export const consecutiveFailures = gauge({
  name: 'mcp_aggregator_health_check_consecutive_failures',
  help: 'Failed health checks since the last successful one, of servers that should be connected',
  labelNames: ['server'],
  inject: [ScrapedServers, CheckMetrics],
  collect({ wanted }: ScrapedServers, checks: CheckMetrics) {
    checks.keepOnly(wanted);
    this.reset();
    for (const server of wanted) this.set({ server: server.name }, checks.failuresInARow(server));
  },
});
