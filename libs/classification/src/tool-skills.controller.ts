import { Body, Controller, Delete, HttpCode, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { DropOverride } from './drop-override.command.js';
import { OverrideToolSkills } from './override-tool-skills.command.js';
import { OverrideSkillsDto } from './skills.dto.js';
import { RowIdPipe } from './row-id.pipe.js';
import { UnknownTool } from './classification.errors.js';

const ToolIdPipe = new RowIdPipe((id) => new UnknownTool(id));

@ApiTags('skills')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tools/:id/skills')
export class ToolSkillsController {
  constructor(private readonly commands: CommandBus) {}

  @Put()
  @HttpCode(204)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Say which skills a tool has; classification leaves it alone then' })
  @ApiNoContentResponse()
  @ApiErrors(400, 404, 422)
  async override(
    @Param('id', ToolIdPipe) id: number,
    @Body() dto: OverrideSkillsDto,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new OverrideToolSkills(id, dto.skill_ids, actor));
  }

  @Delete()
  @HttpCode(204)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Let classification decide on a tool again' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async drop(@Param('id', ToolIdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    await this.commands.execute(new DropOverride(id, actor));
  }
}
