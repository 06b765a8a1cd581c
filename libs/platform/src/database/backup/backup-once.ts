import type { Env } from '../../config/env.js';
import { Clock } from '../../work/clock.js';
import { openOnce } from '../open-once.js';
import { Backup } from './backup.js';

/** For the command, without a running service: writes a backup of the database that the settings name. */
export function backupOnce(env: Env, file: string): Promise<void> {
  return openOnce(env, [], (database) => new Backup(database, env, new Clock()).write(file));
}
