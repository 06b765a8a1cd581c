import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { ReloadConfiguration } from './reload-configuration.command.js';
import { ReloadView } from './reload.dto.js';

@ApiTags('operations')
@ApiBearerAuth()
@Controller('api/v1/aggregator/reload')
@RequireScope('admin')
export class ReloadController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Read the configuration file again: register its new servers, apply its views and overrides',
  })
  @ApiOkResponse({ type: ReloadView })
  @ApiErrors(400, 409)
  async reloadConfiguration(@CurrentActor() actor: Actor): Promise<ReloadView> {
    const { registered, known, skipped } = await this.commands.execute(
      new ReloadConfiguration(actor),
    );
    return { registered, known, skipped };
  }
}
