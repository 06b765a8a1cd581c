import { type Clock, errorCode, jsonTextOf, UnreadableConfigFile } from '@app/platform';
import { UnreadableServersFile } from '@app/registry';
import { readFile, stat } from 'node:fs/promises';

/** Larger ones are not read; what they may hold is limited further by `parseConfigFile`. */
const MAX_BYTES = 16 * 1_048_576;
/** A file that was changed within this time may be half written: of YAML, the beginning is valid too. */
const RECENT_MS = 500;
const READ_AGAIN_MS = 50;
const MAX_READINGS = 40;

/** The configuration file as JSON; one that is being written is read again until it stays the same. */
export async function configurationText(
  file: string,
  clock: Pick<Clock, 'now' | 'sleep'>,
): Promise<string> {
  try {
    return await jsonTextOf(await settledText(file, clock), file);
  } catch (error) {
    if (error instanceof UnreadableConfigFile) {
      throw new UnreadableServersFile(file, error.message, error);
    }
    const problem = errorCode(error) === 'ENOENT' ? 'there is no such file' : 'it cannot be read';
    throw new UnreadableServersFile(file, problem, error);
  }
}

async function settledText(file: string, clock: Pick<Clock, 'now' | 'sleep'>): Promise<string> {
  let before: string | undefined;
  for (let readings = 0; readings < MAX_READINGS; readings++) {
    const { mtimeMs, size } = await stat(file);
    if (size > MAX_BYTES) throw new UnreadableConfigFile(`it has more than ${MAX_BYTES} bytes`);
    const text = await readFile(file, 'utf8');
    const isOld = Math.abs(clock.now().getTime() - mtimeMs) > RECENT_MS;
    if (text === before || (isOld && before === undefined)) return text;
    before = text;
    await clock.sleep(READ_AGAIN_MS);
  }
  throw new UnreadableConfigFile('it is being written');
}
