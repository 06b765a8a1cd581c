import { type AuditStore, SYSTEM } from '@app/access';
import type { Backup, Env } from '@app/platform';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/support/env.js';
import { TakeBackup, TakeBackupHandler } from './take-backup.command.js';

describe(TakeBackupHandler.name, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const handler = (write: (file: string) => Promise<void>, DATABASE_URL?: string) =>
    new TakeBackupHandler(
      { write } as unknown as Backup,
      { record: () => Promise.resolve() } as unknown as AuditStore,
      { MCP_AGGREGATOR_DATA_DIR: folder.path, DATABASE_URL } as unknown as Env,
    );

  it('leaves nothing in the data folder when the backup fails', async () => {
    const failing = handler(() => Promise.reject(new Error('the disk is full')));
    await expect(failing.execute(new TakeBackup(SYSTEM))).rejects.toThrow('the disk is full');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('removes at the start what a killed process has left, and nothing else', async () => {
    const left = await handler((file) => Promise.resolve(writeFileSync(file, ''))).execute(
      new TakeBackup(SYSTEM),
    );
    mkdirSync(join(folder.path, 'backup-of-mine'));
    await handler(() => Promise.resolve(), 'postgres://shared').onApplicationBootstrap();
    expect(existsSync(left)).toBe(true);
    await handler(() => Promise.resolve()).onApplicationBootstrap();
    expect(readdirSync(folder.path)).toEqual(['backup-of-mine']);
  });
});
