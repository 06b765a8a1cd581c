import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors, Env } from '@app/platform';
import type { ServerStatus } from '@app/registry';
import { Catalogue } from './catalogue.js';
import { ToolStore } from './tool.store.js';

class StateView {
  @ApiProperty()
  readonly total_servers!: number;
  @ApiProperty()
  readonly connected_servers!: number;
  @ApiProperty()
  readonly degraded_servers!: number;
  @ApiProperty()
  readonly disconnected_servers!: number;
  @ApiProperty()
  readonly error_servers!: number;
  @ApiProperty()
  readonly connecting_servers!: number;
  @ApiProperty()
  readonly disconnecting_servers!: number;
  @ApiProperty()
  readonly total_tools!: number;
  @ApiProperty()
  readonly classified_tools!: number;
  @ApiProperty()
  readonly unclassified_tools!: number;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Time of the last change of tools.',
  })
  readonly last_sync!: string | null;
  @ApiProperty()
  readonly health_check_interval_seconds!: number;
  @ApiProperty()
  readonly uptime_seconds!: number;
}

@ApiTags('state')
@ApiBearerAuth()
@Controller('api/v1/aggregator/state')
export class StateController {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly tools: ToolStore,
    @Inject(Env) private readonly env: Env,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Counts of servers and tools' })
  @ApiOkResponse({ type: StateView })
  @ApiErrors()
  async getState(): Promise<StateView> {
    const lastSync = await this.tools.lastWrittenAt();
    const { servers, tools } = this.catalogue.current;
    const counts: Record<ServerStatus, number> = {
      CONNECTED: 0,
      DEGRADED: 0,
      DISCONNECTED: 0,
      ERROR: 0,
      CONNECTING: 0,
      DISCONNECTING: 0,
    };
    for (const { status } of servers.values()) counts[status]++;
    const external = tools.filter((tool) => tool.isExternal);
    const classified = external.filter((tool) => tool.isClassified).length;
    return {
      total_servers: servers.size,
      connected_servers: counts.CONNECTED,
      degraded_servers: counts.DEGRADED,
      disconnected_servers: counts.DISCONNECTED,
      error_servers: counts.ERROR,
      connecting_servers: counts.CONNECTING,
      disconnecting_servers: counts.DISCONNECTING,
      total_tools: external.length,
      classified_tools: classified,
      unclassified_tools: external.length - classified,
      last_sync: lastSync?.toISOString() ?? null,
      health_check_interval_seconds: this.env.MCP_AGGREGATOR_HEALTH_INTERVAL,
      uptime_seconds: Math.floor(process.uptime()),
    };
  }
}
