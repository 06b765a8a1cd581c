import { Controller, Get, Param } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { GetServer, ServerIdPipe } from '@app/registry';
import { ServerHealthView, toServerHealthView } from './server-health.dto.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/health')
export class ServerHealthController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'What the last health check of a server found' })
  @ApiOkResponse({ type: ServerHealthView })
  @ApiErrors(404)
  async health(@Param('id', ServerIdPipe) id: string): Promise<ServerHealthView> {
    return toServerHealthView(await this.queries.execute(new GetServer(id)));
  }
}
