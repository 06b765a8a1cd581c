import { Controller, Get, HttpCode, Logger, Param, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiAcceptedResponse,
  ApiBearerAuth,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, AuditStore, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, PageQuery } from '@app/platform';
import { GetServer, isServing, ServerIdPipe } from '@app/registry';
import { ServerUnavailable } from '@app/sessions';
import { Catalogue } from './catalogue.js';
import { DiscoverTools } from './discover-tools.command.js';
import { RefreshView, ServerToolsView, toServerToolView } from './tools.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/tools')
export class ServerToolsController {
  private readonly logger = new Logger(DiscoverTools.name);

  constructor(
    private readonly commands: CommandBus,
    private readonly audit: AuditStore,
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

  @Post('refresh')
  @HttpCode(202)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Ask the server again which tools it has' })
  @ApiAcceptedResponse({ type: RefreshView })
  @ApiErrors(404, 503)
  async refresh(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RefreshView> {
    const server = await this.queries.execute(new GetServer(id));
    if (!isServing(server.status)) throw new ServerUnavailable(server);
    await this.audit.record({ event: 'tools.refresh_requested', actor, server });
    this.commands
      .execute(new DiscoverTools(id))
      .catch((error: unknown) =>
        this.logger.warn({ server: server.name, err: error }, 'refresh failed'),
      );
    return { server_id: id, status: 'REFRESHING', message: 'Tool discovery initiated' };
  }
}
