import { Body, Controller, Delete, Get, HttpCode, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { Catalogue, ToolNotFound } from '@app/catalogue';
import { RowIdPipe, ApiErrors } from '@app/platform';
import { AssignmentStore } from '../classify/assignment.store.js';
import { DropOverride } from './drop-override.command.js';
import { OverrideToolSkills } from './override-tool-skills.command.js';
import { OverrideSkillsDto, ToolSkillsView, toToolSkillsView } from '../skills/skills.dto.js';

const ToolIdPipe = new RowIdPipe((id) => new ToolNotFound(id));

@ApiTags('skills')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tools/:id/skills')
export class ToolSkillsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
    private readonly assignments: AssignmentStore,
  ) {}

  @Get()
  @RequireScope('read')
  @ApiOperation({
    summary: 'Skills of a tool with their confidence, and likely ones that are not sure enough',
  })
  @ApiOkResponse({ type: ToolSkillsView })
  @ApiErrors(404)
  async getToolSkills(@Param('id', ToolIdPipe) id: number): Promise<ToolSkillsView> {
    if (!this.catalogue.current.toolsById.has(id)) throw new ToolNotFound(String(id));
    return toToolSkillsView(id, await this.assignments.ofTool(id));
  }

  @Put()
  @HttpCode(204)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Say which skills a tool has; classification leaves it alone then' })
  @ApiNoContentResponse()
  @ApiErrors(400, 404, 422)
  async overrideToolSkills(
    @Param('id', ToolIdPipe) id: number,
    @Body() dto: OverrideSkillsDto,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new OverrideToolSkills(id, dto.skill_ids, actor));
  }

  @Delete()
  @HttpCode(204)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Let classification decide on a tool again' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async dropToolSkillsOverride(
    @Param('id', ToolIdPipe) id: number,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new DropOverride(id, actor));
  }
}
