import { Inject, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { AppError, Backup, Env } from '@app/platform';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = 'backup-';
/** With what mkdtemp adds. */
const FOLDER_NAME = /^backup-[A-Za-z0-9]{6}$/;

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
export class TakeBackupHandler implements ICommandHandler<TakeBackup>, OnApplicationBootstrap {
  private readonly logger = new Logger('operations');
  private isRunning = false;

  constructor(
    private readonly backup: Backup,
    private readonly audit: AuditStore,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** What a process that was killed has left: as much as its database. Replicas on PostgreSQL may share a folder. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.env.DATABASE_URL) return;
    try {
      const { MCP_AGGREGATOR_DATA_DIR: dataDir } = this.env;
      const left = (await readdir(dataDir)).filter((name) => FOLDER_NAME.test(name));
      for (const name of left) await rm(join(dataDir, name), { recursive: true, force: true });
    } catch (error) {
      this.logger.warn({ err: error }, 'backup.not_removed');
    }
  }

  async execute({ actor }: TakeBackup): Promise<string> {
    if (this.isRunning) throw new BackupUnderWay();
    this.isRunning = true;
    try {
      await this.audit.record({ event: 'backup.taken', actor });
      // In the data folder: /tmp is often memory.
      const folder = await mkdtemp(join(this.env.MCP_AGGREGATOR_DATA_DIR, FOLDER));
      try {
        const file = join(folder, 'backup.jsonl.gz');
        await this.backup.write(file);
        return file;
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    } finally {
      this.isRunning = false;
    }
  }
}
