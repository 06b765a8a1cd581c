import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal, RequireScope } from '@app/access';
import { Catalogue, type CatalogueSnapshot, ToolNotFound } from '@app/catalogue';
import { ApiErrors } from '@app/platform';
import { FollowsPolicy, Permissions } from '@app/policy';
import {
  ListToolsQuery,
  ToolDetailView,
  ToolListView,
  toToolDetailView,
  toToolView,
} from './tool-list.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tools')
@FollowsPolicy()
export class ToolListController {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly permissions: Permissions,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Tools of all servers, by name' })
  @ApiOkResponse({ type: ToolListView })
  @ApiErrors(422)
  listTools(
    @Query() query: ListToolsQuery,
    @CurrentPrincipal() principal: Principal,
  ): ToolListView {
    const { server, skill, is_classified, limit, offset } = query;
    const { tools, servers } = this.offeredTo(principal);
    const wanted = tools.filter(
      (tool) =>
        tool.isExternal &&
        (server === undefined || tool.serverName === server) &&
        (skill === undefined || tool.skillIds.includes(skill)) &&
        (is_classified === undefined || tool.isClassified === is_classified),
    );
    const classified = wanted.filter((tool) => tool.isClassified).length;
    return {
      tools: wanted
        .slice(offset, offset + limit)
        .map((tool) => toToolView(tool, servers.get(tool.serverId))),
      total: wanted.length,
      classified,
      unclassified: wanted.length - classified,
      limit,
      offset,
    };
  }

  @Get(':id')
  @RequireScope('read')
  @ApiOperation({ summary: 'One tool, with its schema' })
  @ApiOkResponse({ type: ToolDetailView })
  @ApiErrors(404)
  getTool(@Param('id') id: string, @CurrentPrincipal() principal: Principal): ToolDetailView {
    const { toolsById, servers } = this.offeredTo(principal);
    // Canonical digits only: "01" and "1e0" are not ids.
    const tool = /^[1-9]\d*$/.test(id) ? toolsById.get(Number(id)) : undefined;
    if (!tool) throw new ToolNotFound(id);
    return toToolDetailView(tool, servers.get(tool.serverId));
  }

  private offeredTo(principal: Principal): CatalogueSnapshot {
    return this.permissions.inRest(principal).offer.catalogue(this.catalogue.current);
  }
}
