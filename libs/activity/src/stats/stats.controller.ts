import { Controller, Get, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ApiErrors } from '@app/platform';
import { ServerNotFound } from '@app/registry';
import { CallStats, type StatsSeries } from './call-stats.query.js';
import { StatsParams, type StatsSeriesView, StatsView } from './stats.dto.js';

@ApiTags('activity')
@ApiBearerAuth()
@Controller('api/v1/aggregator/stats')
@RequireScope('read')
export class StatsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Calls, errors and durations over time: in all, by server, or by tool' })
  @ApiOkResponse({ type: StatsView })
  @ApiErrors(404, 422)
  async getStats(@Query() { window, server, tool, by }: StatsParams): Promise<StatsView> {
    const named = this.named(server, tool);
    const asked = { window, ...(by && { by }), ...named };
    const found = await this.queries.execute(new CallStats(asked));
    return {
      window,
      step_seconds: found.stepSeconds,
      from: dateOf(found.from),
      to: dateOf(found.to),
      since: found.since.toISOString(),
      series: found.series.map((series) => this.viewOf(series)),
      left_out: found.leftOut,
      replicas_missing: found.missing,
    };
  }

  /** A canonical name of a tool names its server too. */
  private named(server: string | undefined, tool: string | undefined) {
    const { servers, serversByName, toolsByName } = this.catalogue.current;
    const known = tool === undefined ? undefined : toolsByName.get(tool);
    if (server === undefined && known) {
      return { serverId: known.serverId, tool: known.originalName };
    }
    const found =
      server === undefined ? undefined : (serversByName.get(server) ?? servers.get(server));
    if (server !== undefined && !found) throw new ServerNotFound(server);
    const isOfServer = known && found && known.serverId === found.id;
    const name = isOfServer ? known.originalName : tool;
    return { ...(found && { serverId: found.id }), ...(name !== undefined && { tool: name }) };
  }

  private viewOf({ serverId, tool, sums }: StatsSeries): StatsSeriesView {
    const { p50, p95, p99 } = sums.percentiles();
    const server = serverId === null ? undefined : this.catalogue.current.servers.get(serverId);
    return {
      server_id: serverId,
      server: server?.name ?? null,
      tool,
      calls: sums.calls,
      errors: sums.errors,
      p50_ms: p50,
      p95_ms: p95,
      p99_ms: p99,
      points: sums.columns(),
    };
  }
}

function dateOf(second: number): string {
  return new Date(second * 1_000).toISOString();
}
