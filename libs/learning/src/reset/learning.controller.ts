import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ToolNotFound } from '@app/catalogue';
import { ApiErrors } from '@app/platform';
import { ResetLearning } from './reset-learning.command.js';

const ID = /^[1-9]\d{0,9}$/;
const LARGEST_ID = 2_147_483_647;

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tools/:id/learning')
export class LearningController {
  constructor(private readonly commands: CommandBus) {}

  @Delete()
  @HttpCode(204)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Forget what searches learnt from the use of a tool' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async resetToolLearning(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    const toolId = ID.test(id) ? Number(id) : Number.NaN;
    if (!(toolId <= LARGEST_ID)) throw new ToolNotFound(id);
    await this.commands.execute(new ResetLearning(toolId, actor));
  }
}
