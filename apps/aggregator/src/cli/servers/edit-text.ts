import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError, exitCodes } from '../exit-codes.js';

/**
 * Lets the user edit a text in their editor and uses it; undefined if it was not changed. What cannot be used is kept
 * for the next attempt, in a file that only this user can read.
 */
export async function editText<T>(
  name: string,
  text: string,
  use: (text: string) => Promise<T>,
): Promise<T | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-edit-'));
  const file = join(folder, name);
  await writeFile(file, text, { mode: 0o600 });
  const drop = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await openEditor(file);
  } catch (error) {
    await drop();
    throw error;
  }
  const edited = await readFile(file, 'utf8');
  if (edited === text) {
    await drop();
    return undefined;
  }
  const used = await use(edited).catch((error: unknown) => {
    throw error instanceof CliError ? kept(error, file) : error;
  });
  await drop();
  return used;
}

/** As git does: the setting is a shell command, so that it may have arguments. */
async function openEditor(file: string): Promise<void> {
  const editor = process.env['VISUAL'] || process.env['EDITOR'] || 'vi';
  const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code === 0) return;
  throw new CliError(
    `The editor "${editor}" ended with ${code ?? signal}; nothing was changed. Choose another with EDITOR, or use --set or --file.`,
    exitCodes.failed,
  );
}

function kept(error: CliError, file: string): CliError {
  const message = `${error.message}\nYour text is kept in ${file}: mend it, give it to --file, then delete it.`;
  return new CliError(message, error.exitCode, error.code);
}
