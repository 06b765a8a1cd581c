import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { AppError, Backup, Env } from '@app/platform';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';

/** Backups write as much as the database has: one at a time. */
export class BackupUnderWay extends AppError {
  constructor() {
    super('A backup is being made. Ask again when it has ended.', {
      kind: 'conflict',
      code: 'BACKUP_UNDER_WAY',
    });
  }
}

/** Writes a backup to a file in a new folder, which the caller removes. */
export class TakeBackup extends Command<string> {
  constructor(readonly actor: Actor) {
    super();
  }
}

@CommandHandler(TakeBackup)
export class TakeBackupHandler implements ICommandHandler<TakeBackup> {
  private isRunning = false;

  constructor(
    private readonly backup: Backup,
    private readonly audit: AuditStore,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ actor }: TakeBackup): Promise<string> {
    if (this.isRunning) throw new BackupUnderWay();
    this.isRunning = true;
    try {
      await this.audit.record({ event: 'backup.taken', actor });
      // In the data folder: /tmp is often memory.
      const folder = await mkdtemp(join(this.env.MCP_AGGREGATOR_DATA_DIR, 'backup-'));
      const file = join(folder, 'backup.jsonl.gz');
      await this.backup.write(file);
      return file;
    } finally {
      this.isRunning = false;
    }
  }
}
