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
import { ApiErrors, inSlices } from '@app/platform';
import { Absences, FollowsPolicy, mayKnow, Permissions } from '@app/policy';
import {
  ListToolsQuery,
  ToolDetailView,
  ToolListView,
  toFilter,
  toToolDetailView,
  toToolView,
} from './tool-list.dto.js';
import { inOrder, selectTools } from './select-tools.js';
import { ListToolRowsQuery, ToolRowsView, toToolRows } from './tool-rows.dto.js';

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
  async listTools(
    @Query() query: ListToolsQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ToolListView> {
    const { limit, offset } = query;
    const { servers } = this.offeredTo(principal);
    const wanted = await this.select(query, principal);
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

  @Get('rows')
  @RequireScope('read')
  @ApiOperation({ summary: 'The same in short and sorted, for a table of many tools' })
  @ApiOkResponse({ type: ToolRowsView })
  @ApiErrors(422)
  async listToolRows(
    @Query() query: ListToolRowsQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ToolRowsView> {
    const { limit, offset, sort } = query;
    const { servers } = this.offeredTo(principal);
    const wanted = await inSlices(inOrder(await this.select(query, principal), sort));
    const tools = toToolRows(wanted.slice(offset, offset + limit), servers);
    const next = offset + tools.length;
    const total = wanted.length;
    return { tools, total, limit, offset, next_offset: next < total ? next : null };
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

  /** That a tool is withheld is told only to those who may approve it. */
  private async select(query: ListToolsQuery, principal: Principal): Promise<CatalogueTool[]> {
    if (query.status === 'withheld' && !mayKnow(principal)) return [];
    return inSlices(selectTools(this.offeredTo(principal), toFilter(query)));
  }

  private offeredTo(principal: Principal): CatalogueSnapshot {
    return this.permissions.inRest(principal).offer.catalogue(this.catalogue.current);
  }
}

/** By its id or name. Canonical digits only: "01" and "1e0" are not ids. Names of tools of servers have a dot. */
function toolOf(tools: ToolIndexes, id: string): CatalogueTool | undefined {
  return /^[1-9]\d*$/.test(id) ? tools.toolsById.get(Number(id)) : tools.toolsByName.get(id);
}
