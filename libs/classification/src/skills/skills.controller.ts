import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
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
import { AssignmentStore } from '../classify/assignment.store.js';
import { CreateSkill } from './create-skill.command.js';
import { SkillStore } from './skill.store.js';
import {
  CreateSkillDto,
  ListSkillsQuery,
  SkillListView,
  SkillToolsView,
  SkillView,
  toSkillToolView,
  toSkillView,
  UpdateSkillDto,
} from './skills.dto.js';
import { UpdateSkill } from './update-skill.command.js';

@ApiTags('skills')
@ApiBearerAuth()
@Controller('api/v1/aggregator/skills')
export class SkillsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly skills: SkillStore,
    private readonly assignments: AssignmentStore,
    private readonly catalogue: Catalogue,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'The skill taxonomy, by name' })
  @ApiOkResponse({ type: SkillListView })
  @ApiErrors(422)
  async listSkills(
    @Query() { include_inactive, limit, offset }: ListSkillsQuery,
  ): Promise<SkillListView> {
    const { skills, total } = await this.skills.list(include_inactive, { limit, offset });
    return { skills: skills.map(toSkillView), total, limit, offset };
  }

  @Post()
  @RequireScope('admin')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Add a skill; all tools are classified again' })
  @ApiCreatedResponse({ type: SkillView })
  @ApiErrors(400, 409, 422)
  async createSkill(@Body() dto: CreateSkillDto, @CurrentActor() actor: Actor): Promise<SkillView> {
    const { id, name, description } = dto;
    // `null` counts as absent, as in every optional field.
    const skill = { id, name, description, prototypes: dto.prototypes ?? [] };
    return toSkillView(await this.commands.execute(new CreateSkill(skill, actor)));
  }

  @Get(':id')
  @RequireScope('read')
  @ApiOperation({ summary: 'One skill' })
  @ApiOkResponse({ type: SkillView })
  @ApiErrors(404)
  async getSkill(@Param('id') id: string): Promise<SkillView> {
    return toSkillView(await this.skills.get(id));
  }

  @Patch(':id')
  @RequireScope('admin')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Change a skill; all tools are classified again' })
  @ApiOkResponse({ type: SkillView })
  @ApiErrors(400, 404, 409, 422)
  async updateSkill(
    @Param('id') id: string,
    @Body() dto: UpdateSkillDto,
    @CurrentActor() actor: Actor,
  ): Promise<SkillView> {
    const { name, description, prototypes, is_active: isActive } = dto;
    const changes = { name, description, prototypes, isActive };
    return toSkillView(await this.commands.execute(new UpdateSkill(id, changes, actor)));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Switch a skill off; PATCH with is_active brings it back' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async deactivateSkill(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.commands.execute(new UpdateSkill(id, { isActive: false }, actor));
  }

  @Get(':id/tools')
  @RequireScope('read')
  @ApiOperation({ summary: 'Tools of a skill, by name' })
  @ApiOkResponse({ type: SkillToolsView })
  @ApiErrors(404, 422)
  async listSkillTools(
    @Param('id') id: string,
    @Query() { limit, offset }: PageQuery,
  ): Promise<SkillToolsView> {
    await this.skills.get(id);
    const { toolsById } = this.catalogue.current;
    const tools = (await this.assignments.membersOf(id))
      .flatMap(({ toolId, confidence, isPrimary }) => {
        const tool = toolsById.get(toolId);
        return tool ? [{ ...tool, confidence, isPrimary }] : [];
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const page = tools.slice(offset, offset + limit).map(toSkillToolView);
    return { tools: page, total: tools.length, limit, offset };
  }
}
