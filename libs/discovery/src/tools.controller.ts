import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors, PageQuery } from '@app/platform';
import { GetServer, ServerIdPipe } from '@app/registry';
import { Catalogue } from './catalogue.js';
import { ServerToolsView, toServerToolView } from './tools.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/tools')
export class ServerToolsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Tools of one server, by name' })
  @ApiOkResponse({ type: ServerToolsView })
  @ApiErrors(404, 422)
  async list(
    @Param('id', ServerIdPipe) id: string,
    @Query() { limit, offset }: PageQuery,
  ): Promise<ServerToolsView> {
    await this.queries.execute(new GetServer(id));
    const tools = this.catalogue.current.tools.filter((tool) => tool.serverId === id);
    const classified = tools.filter((tool) => tool.isClassified).length;
    return {
      tools: tools.slice(offset, offset + limit).map(toServerToolView),
      total: tools.length,
      classified,
      unclassified: tools.length - classified,
      limit,
      offset,
    };
  }
}
