import { Module } from '@nestjs/common';
import { BackupController } from './backup.controller.js';
import { TakeBackupHandler } from './take-backup.command.js';
import { ReloadConfigurationHandler } from './reload-configuration.command.js';
import { ReloadController } from './reload.controller.js';

/** What operators do with a running service: a backup, and reading its configuration file again. */
@Module({
  controllers: [BackupController, ReloadController],
  providers: [TakeBackupHandler, ReloadConfigurationHandler],
})
export class OperationsModule {}
