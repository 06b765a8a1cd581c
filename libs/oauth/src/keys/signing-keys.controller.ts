import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { RotateSigningKey } from './rotate-signing-key.command.js';
import { RotatedKeyView, RotateSigningKeyDto } from './signing-keys.dto.js';

@ApiTags('tokens')
@ApiBearerAuth()
@Controller('api/v1/oauth/keys')
@RequireScope('admin')
export class SigningKeysController {
  constructor(private readonly commands: CommandBus) {}

  @Post('rotate')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sign tokens of OAuth clients with a new key' })
  @ApiOkResponse({ type: RotatedKeyView })
  @ApiErrors(400, 409, 422)
  async rotateSigningKey(
    @Body() { end_others: endsOthers = false }: RotateSigningKeyDto,
    @CurrentActor() actor: Actor,
  ): Promise<RotatedKeyView> {
    const { kid, previousUntil } = await this.commands.execute(
      new RotateSigningKey(endsOthers, actor),
    );
    return { kid, previous_until: previousUntil.toISOString() };
  }
}
