import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors, Env } from '@app/platform';
import { ServerStore } from './server.store.js';

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
  readonly total_tools!: number;
  @ApiProperty()
  readonly classified_tools!: number;
  @ApiProperty()
  readonly unclassified_tools!: number;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the tools last changed.',
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
    private readonly servers: ServerStore,
    @Inject(Env) private readonly env: Env,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Counts of servers and tools' })
  @ApiOkResponse({ type: StateView })
  @ApiErrors()
  async state(): Promise<StateView> {
    const { statuses, tools, classified, lastSync } = await this.servers.totals();
    return {
      total_servers: Object.values(statuses).reduce((sum, count) => sum + count, 0),
      connected_servers: statuses.CONNECTED,
      degraded_servers: statuses.DEGRADED,
      disconnected_servers: statuses.DISCONNECTED,
      error_servers: statuses.ERROR,
      connecting_servers: statuses.CONNECTING,
      total_tools: tools,
      classified_tools: classified,
      unclassified_tools: tools - classified,
      last_sync: lastSync?.toISOString() ?? null,
      health_check_interval_seconds: this.env.MCP_AGGREGATOR_HEALTH_INTERVAL,
      uptime_seconds: Math.floor(process.uptime()),
    };
  }
}
