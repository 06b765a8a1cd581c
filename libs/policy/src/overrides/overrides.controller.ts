import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { Catalogue, type CatalogueTool, ToolNotFound } from '@app/catalogue';
import { ApiErrors, BodyLimit } from '@app/platform';
import { Policy } from '../policy.js';
import { OverrideNotFound } from '../policy.errors.js';
import {
  OverrideDto,
  OverrideListView,
  OverrideQuery,
  OverrideView,
  toOverrideView,
} from './overrides.dto.js';
import { RemoveOverride } from './remove-override.command.js';
import { isFor, SetOverride } from './set-override.command.js';
import type { OverriddenTool } from './tool-override.js';

/** Preset arguments are shown to admins only, who set them. */
@ApiTags('policy')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tools/:id')
@RequireScope('admin')
export class OverridesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
  ) {}

  @Get('overrides')
  @ApiOperation({ summary: 'Every override of a tool: the one for every view and those of views' })
  @ApiOkResponse({ type: OverrideListView })
  @ApiErrors(404)
  listOverrides(@Param('id') id: string): OverrideListView {
    const tool = this.toolOf(id);
    const { overrides, viewsById } = this.policy.current;
    const own = overrides.filter((one) => isFor(one, targetOf(tool), one.viewId));
    return {
      overrides: own.map((one) =>
        toOverrideView(
          one,
          tool,
          one.viewId === null ? null : (viewsById.get(one.viewId)?.slug ?? null),
        ),
      ),
    };
  }

  @Get('override')
  @ApiOperation({ summary: 'How a tool is offered in a view, or in every view' })
  @ApiOkResponse({ type: OverrideView })
  @ApiErrors(404, 422)
  getOverride(@Param('id') id: string, @Query() { view: slug }: OverrideQuery): OverrideView {
    const tool = this.toolOf(id);
    const viewId = slug === undefined ? null : this.policy.current.viewNamed(slug).id;
    const override = this.policy.current.overrides.find((one) =>
      isFor(one, targetOf(tool), viewId),
    );
    if (!override) throw new OverrideNotFound(tool.name);
    return toOverrideView(override, tool, slug ?? null);
  }

  @Put('override')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Offer a tool under another name, description or with other arguments' })
  @ApiOkResponse({ type: OverrideView })
  @ApiErrors(400, 404, 409, 413, 422)
  async setOverride(
    @Param('id') id: string,
    @Query() { view }: OverrideQuery,
    @Body() given: OverrideDto,
    @CurrentActor() actor: Actor,
  ): Promise<OverrideView> {
    const tool = this.toolOf(id);
    const override = await this.commands.execute(
      new SetOverride(targetOf(tool), view, given, actor),
    );
    return toOverrideView(override, tool, view ?? null);
  }

  @Delete('override')
  @HttpCode(204)
  @ApiOperation({ summary: 'Offer a tool as its server defines it again' })
  @ApiNoContentResponse()
  @ApiErrors(404, 422)
  async removeOverride(
    @Param('id') id: string,
    @Query() { view }: OverrideQuery,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new RemoveOverride(targetOf(this.toolOf(id)), view, actor));
  }

  private toolOf(id: string): CatalogueTool {
    const { toolsById } = this.catalogue.current;
    const tool = /^[1-9]\d*$/.test(id) ? toolsById.get(Number(id)) : undefined;
    if (!tool?.isExternal) throw new ToolNotFound(id);
    return tool;
  }
}

function targetOf({ serverId, originalName }: CatalogueTool): OverriddenTool {
  return { serverId, tool: originalName };
}
