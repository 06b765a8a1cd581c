import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Catalogue } from '@app/catalogue';
import { RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { GetServer, ServerIdPipe } from '@app/registry';
import { DiscoveryProgress } from './discovery-progress.js';
import { DiscoveryView, toDiscoveryView } from './server-tools.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/discovery')
export class DiscoveryController {
  constructor(
    private readonly queries: QueryBus,
    private readonly progress: DiscoveryProgress,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Progress of the tool discovery of a server' })
  @ApiOkResponse({ type: DiscoveryView })
  @ApiErrors(404)
  async getDiscovery(@Param('id', ServerIdPipe) id: string): Promise<DiscoveryView> {
    await this.queries.execute(new GetServer(id));
    const tools = this.catalogue.current.toolsByServer.get(id) ?? [];
    return toDiscoveryView(id, this.progress.of(id), tools);
  }
}
