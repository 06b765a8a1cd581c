import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ToolNotFound } from '@app/catalogue';
import { ApiErrors, RowIdPipe } from '@app/platform';
import { ResetLearning } from './reset-learning.command.js';

const ToolIdPipe = new RowIdPipe((id) => new ToolNotFound(id));

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/aggregator/tools/:id/learning')
export class LearningController {
  constructor(private readonly commands: CommandBus) {}

  @Delete()
  @HttpCode(204)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Forget what searches learnt from the use of a tool' })
  @ApiParam({ name: 'id', type: String })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async resetToolLearning(
    @Param('id', ToolIdPipe) id: number,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new ResetLearning(id, actor));
  }
}
