import { Controller, Get, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors, effectiveSettings, Env } from '@app/platform';
import { SettingsView, toSettingView } from './settings.dto.js';

@ApiTags('health')
@ApiBearerAuth()
@Controller('api/v1/aggregator/settings')
@RequireScope('admin')
export class SettingsController {
  constructor(@Inject(Env) private readonly env: Env) {}

  @Get()
  @ApiOperation({ summary: 'The settings of the replica that answers, without secrets' })
  @ApiOkResponse({ type: SettingsView })
  @ApiErrors()
  listSettings(): SettingsView {
    return { settings: effectiveSettings(this.env).map(toSettingView) };
  }
}
