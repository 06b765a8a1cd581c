import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal, RequireScope } from '@app/access';
import { Catalogue, type CatalogueSnapshot, ToolNotFound, ToolWithheld } from '@app/catalogue';
import { ApiErrors } from '@app/platform';
import { Absences, FollowsPolicy, Permissions } from '@app/policy';
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
    private readonly absences: Absences,
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
    // Canonical digits only: "01" and "1e0" are not ids.
    const number = /^[1-9]\d*$/.test(id) ? Number(id) : 0;
    const { toolsById, servers, withheld } = this.offeredTo(principal);
    const tool = toolsById.get(number);
    if (tool) return toToolDetailView(tool, servers.get(tool.serverId));
    const waiting = withheld.toolsById.get(number);
    if (waiting) throw new ToolWithheld(waiting);
    throw this.notFound(id, number, principal);
  }

  private notFound(id: string, number: number, principal: Principal): ToolNotFound {
    const { toolsById, withheld } = this.catalogue.current;
    const absent = toolsById.get(number) ?? withheld.toolsById.get(number);
    const { slug } = this.permissions.inRest(principal).view;
    return new ToolNotFound(id, absent && this.absences.reasonFor(principal, slug)?.(absent));
  }

  private offeredTo(principal: Principal): CatalogueSnapshot {
    return this.permissions.inRest(principal).offer.catalogue(this.catalogue.current);
  }
}
