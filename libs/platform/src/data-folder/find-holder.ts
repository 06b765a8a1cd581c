import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type HolderRecord, readRecord } from './holder-record.js';
import { HolderSocket } from './liveness.js';

/** For the doctor: the process that holds the data folder, if one does; nothing is written. */
export async function findHolder(dataDir: string): Promise<HolderRecord | undefined> {
  const lockDir = join(dataDir, 'lock');
  const socket = new HolderSocket(lockDir);
  for (const id of idsIn(lockDir)) {
    const record = readRecord(join(lockDir, `${id}.json`));
    if (record && (await socket.ask(id)) === 'lives') return record;
  }
  return undefined;
}

function idsIn(lockDir: string): readonly string[] {
  try {
    return readdirSync(lockDir).flatMap((name) => /^([\w-]+)\.json$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}
