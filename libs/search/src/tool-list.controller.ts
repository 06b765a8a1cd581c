import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, hasScope, type Principal, RequireScope } from '@app/access';
import {
  Catalogue,
  type CatalogueSnapshot,
  type CatalogueTool,
  ToolNotFound,
  ToolWithheld,
  type ToolIndexes,
} from '@app/catalogue';
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
  @ApiOperation({ summary: 'One tool with its definition, by its id or its name (`server.tool`)' })
  @ApiOkResponse({ type: ToolDetailView })
  @ApiErrors(404)
  getTool(@Param('id') id: string, @CurrentPrincipal() principal: Principal): ToolDetailView {
    const offered = this.offeredTo(principal);
    const tool = toolOf(offered, id);
    if (tool) {
      const listed = this.catalogue.current.toolsById.get(tool.id);
      return toToolDetailView(tool, offered.servers.get(tool.serverId), {
        // Overrides hide arguments from callers.
        listed_definition: hasScope(principal, 'admin') ? (listed?.definition ?? null) : null,
      });
    }
    const waiting = toolOf(offered.withheld, id);
    if (waiting) throw new ToolWithheld(waiting);
    throw this.notFound(id, principal);
  }

  private notFound(id: string, principal: Principal): ToolNotFound {
    const { current } = this.catalogue;
    const absent = toolOf(current, id) ?? toolOf(current.withheld, id);
    const { slug } = this.permissions.inRest(principal).view;
    return new ToolNotFound(id, absent && this.absences.reasonFor(principal, slug)?.(absent));
  }

  private offeredTo(principal: Principal): CatalogueSnapshot {
    return this.permissions.inRest(principal).offer.catalogue(this.catalogue.current);
  }
}

/** By its id or name. Canonical digits only: "01" and "1e0" are not ids. Names of tools of servers have a dot. */
function toolOf(tools: ToolIndexes, id: string): CatalogueTool | undefined {
  return /^[1-9]\d*$/.test(id) ? tools.toolsById.get(Number(id)) : tools.toolsByName.get(id);
}
