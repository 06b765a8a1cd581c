import 'reflect-metadata';
import { backupOnce, migrateOnce, restoreOnce } from '@app/platform';
import { migrations } from '../../../../../migrations/index.js';
import { readSettings } from '../../start/settings.js';

/** Loaded on demand: commands that only ask a service start faster without the database. */
export function backupOffline(file: string): Promise<void> {
  return backupOnce(readSettings({}, []), file);
}

export function restoreOffline(file: string, mayReplace: boolean): ReturnType<typeof restoreOnce> {
  const order = { file, mayReplace, now: new Date() };
  return restoreOnce(readSettings({}, []), migrations, order);
}

export function migrateOffline(): Promise<string[]> {
  return migrateOnce(readSettings({}, []), migrations, 'run');
}

/** The newest first; each is told when it is done. */
export async function revertOffline(count: number, tell: (name: string) => void): Promise<void> {
  const env = readSettings({}, []);
  for (let i = 0; i < count; i++) {
    const [name] = await migrateOnce(env, migrations, 'revert');
    if (name === undefined) return;
    tell(name);
  }
}
