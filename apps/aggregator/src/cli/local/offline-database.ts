import 'reflect-metadata';
import { backupOnce, migrateOnce, restoreOnce } from '@app/platform';
import { migrations } from '../../../../../migrations/index.js';
import { readSettings } from '../../start/settings.js';

/** Loaded on demand: commands that only ask a service start faster without the database. */
export function backupOffline(file: string): Promise<void> {
  return backupOnce(readSettings({}, []), file);
}

export function restoreOffline(file: string, mayReplace: boolean): ReturnType<typeof restoreOnce> {
  return restoreOnce(readSettings({}, []), migrations, file, mayReplace);
}

export function migrateOffline(): Promise<string[]> {
  return migrateOnce(readSettings({}, []), migrations, 'run');
}

/** The newest first; their names. */
export async function revertOffline(count: number): Promise<string[]> {
  const env = readSettings({}, []);
  const names: string[] = [];
  for (let i = 0; i < count; i++) names.push(...(await migrateOnce(env, migrations, 'revert')));
  return names;
}
