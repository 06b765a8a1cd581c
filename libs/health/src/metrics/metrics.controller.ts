import { Controller, Get, Header } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { Registry } from 'prom-client';
import { ScrapedServers } from './scraped-servers.js';

@ApiTags('health')
@ApiBearerAuth()
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly registry: Registry,
    private readonly servers: ScrapedServers,
  ) {}

  @Get()
  @RequireScope('read')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @ApiOperation({ summary: 'Metrics for Prometheus' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'Prometheus text format', schema: { type: 'string' } })
  @ApiErrors()
  async getMetrics(): Promise<string> {
    await this.servers.refresh();
    return this.registry.metrics();
  }
}
