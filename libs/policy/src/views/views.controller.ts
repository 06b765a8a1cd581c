import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ApiErrors, BodyLimit, PageQuery } from '@app/platform';
import { ExplainedCallers } from '../decide/explained-caller.js';
import { Permissions } from '../decide/permissions.js';
import { Policy } from '../policy.js';
import { DeleteView } from './delete-view.command.js';
import { SaveView } from './save-view.command.js';
import type { View } from './view.js';
import { ruleDocument } from './view-document.js';
import {
  CloneViewDto,
  CreateViewDto,
  PreviewPageQuery,
  PreviewView,
  toViewView,
  ViewDto,
  ViewListView,
  ViewView,
} from './views.dto.js';

@ApiTags('policy')
@ApiBearerAuth()
@Controller('api/v1/aggregator/views')
@RequireScope('admin')
export class ViewsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly policy: Policy,
    private readonly permissions: Permissions,
    private readonly callers: ExplainedCallers,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @RequireScope('operate')
  @ApiOperation({ summary: 'All views, by name' })
  @ApiOkResponse({ type: ViewListView })
  @ApiErrors(422)
  listViews(@Query() { limit, offset }: PageQuery): ViewListView {
    const views = [...this.policy.current.viewsBySlug.values()];
    return {
      views: views.slice(offset, offset + limit).map((view) => this.shown(view)),
      total: views.length,
      limit,
      offset,
    };
  }

  @Post()
  @BodyLimit('long')
  @ApiOperation({
    summary: 'Make a view: a selection of tools, prompts and resources at an address of its own',
  })
  @ApiCreatedResponse({ type: ViewView })
  @ApiErrors(400, 409, 413, 422)
  async createView(
    @Body() { slug, ...given }: CreateViewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ViewView> {
    return this.shown(await this.commands.execute(new SaveView(slug, given, 'create', actor)));
  }

  @Get(':slug')
  @RequireScope('operate')
  @ApiOperation({ summary: 'One view' })
  @ApiOkResponse({ type: ViewView })
  @ApiErrors(404)
  getView(@Param('slug') slug: string): ViewView {
    return this.shown(this.policy.current.viewNamed(slug));
  }

  @Put(':slug')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Replace a view as a whole' })
  @ApiOkResponse({ type: ViewView })
  @ApiErrors(400, 404, 413, 422)
  async replaceView(
    @Param('slug') slug: string,
    @Body() given: ViewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ViewView> {
    return this.shown(await this.commands.execute(new SaveView(slug, given, 'replace', actor)));
  }

  @Delete(':slug')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a view with its grants and overrides' })
  @ApiNoContentResponse()
  @ApiErrors(404, 409)
  async deleteView(@Param('slug') slug: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.commands.execute(new DeleteView(slug, actor));
  }

  @Post(':slug/clone')
  @ApiOperation({
    summary: 'Make another view with the same rules; grants and overrides are not copied',
  })
  @ApiCreatedResponse({ type: ViewView })
  @ApiErrors(400, 404, 409, 422)
  async cloneView(
    @Param('slug') slug: string,
    @Body() { slug: copy }: CloneViewDto,
    @CurrentActor() actor: Actor,
  ): Promise<ViewView> {
    const { title, description, budget_tokens, rules } = this.shown(
      this.policy.current.viewNamed(slug),
    );
    const given = { title, description, budget_tokens, rules };
    return this.shown(await this.commands.execute(new SaveView(copy, given, 'create', actor)));
  }

  @Get(':slug/preview')
  @RequireScope('operate')
  @ApiOperation({
    summary: 'The tools that a view offers, to all of its callers or to one subject',
  })
  @ApiOkResponse({ type: PreviewView })
  @ApiErrors(404, 422)
  previewView(@Param('slug') slug: string, @Query() query: PreviewPageQuery): PreviewView {
    const { as, limit, offset } = query;
    const view = this.policy.current.viewNamed(slug);
    const whole = this.policy.current.offerOf(view.id, false);
    const used =
      as === undefined ? undefined : this.permissions.find(this.callers.of([as]).principal, slug);
    // A token that was issued for another view sees that one at this address, and nothing of this.
    const access = used?.view.id === view.id ? used : undefined;
    const offer = as === undefined ? whole : access?.offer;
    const { servers, toolsById } = this.catalogue.current;
    const tools = (offer?.catalogue(this.catalogue.current).tools ?? []).filter(
      ({ isExternal }) => isExternal,
    );
    return {
      tools: tools.slice(offset, offset + limit).map((tool) => {
        const rule = whole?.ruleFor(toolsById.get(tool.id) ?? tool);
        return {
          id: tool.id,
          name: tool.name,
          server: tool.serverName,
          original_name: tool.originalName,
          rule: rule ? ruleDocument(rule, servers) : null,
        };
      }),
      level: access?.level ?? null,
      total: tools.length,
      limit,
      offset,
    };
  }

  private shown(view: View): ViewView {
    return toViewView(view, this.catalogue.current.servers);
  }
}
