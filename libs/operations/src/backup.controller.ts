import { Controller, HttpCode, Logger, Post, StreamableFile } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TakeBackup } from './take-backup.command.js';

const TYPE = 'application/gzip';

@ApiTags('operations')
@ApiBearerAuth()
@Controller('api/v1/aggregator/backup')
@RequireScope('admin')
export class BackupController {
  private readonly logger = new Logger(BackupController.name);

  constructor(private readonly commands: CommandBus) {}

  /** Writes a file and an audit entry, so it is no GET: a page of another origin can make a browser send those. */
  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary:
      'A backup of the database, for `switchboard restore`; credentials in it are encrypted, and the key is not in it',
  })
  @ApiProduces(TYPE)
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' } })
  @ApiErrors(409)
  async takeBackup(@CurrentActor() actor: Actor): Promise<StreamableFile> {
    const file = await this.commands.execute(new TakeBackup(actor));
    const bytes = createReadStream(file);
    // Sent or not.
    bytes.once('close', () => {
      rm(dirname(file), { recursive: true, force: true }).catch((error: unknown) => {
        this.logger.warn({ err: error, file }, 'backup.not_removed');
      });
    });
    return new StreamableFile(bytes, {
      type: TYPE,
      disposition: 'attachment; filename="switchboard-backup.jsonl.gz"',
    });
  }
}
