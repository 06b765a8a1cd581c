import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiAcceptedResponse,
  ApiBearerAuth,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { Catalogue } from '@app/catalogue';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, PageQuery } from '@app/platform';
import { GetServer, ServerIdPipe } from '@app/registry';
import { RefreshTools } from './refresh-tools.command.js';
import {
  RefreshView,
  ServerToolsView,
  toRefreshView,
  toServerToolView,
} from './server-tools.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/tools')
export class ServerToolsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Tools of one server, by name' })
  @ApiOkResponse({ type: ServerToolsView })
  @ApiErrors(404, 422)
  async listServerTools(
    @Param('id', ServerIdPipe) id: string,
    @Query() { limit, offset }: PageQuery,
  ): Promise<ServerToolsView> {
    await this.queries.execute(new GetServer(id));
    const tools = this.catalogue.current.toolsByServer.get(id) ?? [];
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

  @Post('refresh')
  @HttpCode(202)
  @RequireScope('operate')
  @ApiOperation({
    summary:
      'Discover the tools of a server again; deferred for a DEGRADED server until it has recovered',
  })
  @ApiAcceptedResponse({ type: RefreshView })
  @ApiErrors(404, 503)
  async refreshServerTools(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RefreshView> {
    return toRefreshView(id, await this.commands.execute(new RefreshTools(id, actor)));
  }
}
