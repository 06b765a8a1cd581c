import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, BodyLimit } from '@app/platform';
import {
  ImportedView,
  ImportPastedDto,
  ImportPreviewDto,
  ImportPreviewView,
  toImportedView,
  toPlannedView,
} from './import.dto.js';
import { ImportPasted } from './import-pasted.command.js';
import { PlanImport } from './plan-import.query.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/import')
@RequireScope('admin')
export class ImportController {
  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
  ) {}

  @Post('preview')
  @HttpCode(200)
  @BodyLimit('long')
  @ApiOperation({ summary: 'What registering pasted servers would do; saves nothing' })
  @ApiOkResponse({ type: ImportPreviewView })
  @ApiErrors(400, 413, 422)
  async previewImport(@Body() { text, values }: ImportPreviewDto): Promise<ImportPreviewView> {
    const planned = await this.queries.execute(new PlanImport(text, values ?? {}));
    return { servers: planned.map(toPlannedView) };
  }

  @Post()
  @HttpCode(200)
  @BodyLimit('long')
  @ApiOperation({ summary: 'Register pasted servers that are new' })
  @ApiOkResponse({ type: ImportedView })
  @ApiErrors(400, 413, 422)
  async importPasted(
    @Body() { text, values, keys }: ImportPastedDto,
    @CurrentActor() actor: Actor,
  ): Promise<ImportedView> {
    const command = new ImportPasted(text, values ?? {}, keys, actor);
    return toImportedView(await this.commands.execute(command));
  }
}
