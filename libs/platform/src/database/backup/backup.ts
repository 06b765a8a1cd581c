import { Inject, Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { product } from '../../product.js';
import { Clock } from '../../work/clock.js';
import { Database } from '../database.js';
import { BackupWriter } from './backup-file.js';
import { BackupStore } from './backup.store.js';

/** Writes what cannot be computed again to a file, while the service works. */
@Injectable()
export class Backup {
  constructor(
    private readonly database: Database,
    @Inject(Env) private readonly env: Env,
    private readonly clock: Clock,
  ) {}

  /** The file must not exist. Credentials in it are encrypted; the key is not in it. */
  async write(file: string): Promise<void> {
    const store = new BackupStore(this.database);
    const writer = new BackupWriter(file);
    try {
      const migrations = [...(await store.migrations())];
      const created_at = this.clock.now().toISOString();
      const head = { version: product.version, created_at, migrations };
      await writer.add({ kind: 'head', head });
      await store.read(this.env.DATABASE_URL === undefined, (part) => writer.add(part));
      await writer.end();
    } catch (error) {
      await writer.abandon();
      throw error;
    }
  }
}
