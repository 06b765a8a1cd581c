import 'reflect-metadata';
import { backupOnce, restoreOnce } from '@app/platform';
import { migrations } from '../../../../../migrations/index.js';
import { readSettings } from '../../start/settings.js';

/** Loaded on demand: commands that only ask a service start faster without the database. */
export function backupOffline(file: string): Promise<void> {
  return backupOnce(readSettings({}, []), file);
}

export function restoreOffline(file: string, mayReplace: boolean): ReturnType<typeof restoreOnce> {
  return restoreOnce(readSettings({}, []), migrations, file, mayReplace);
}
