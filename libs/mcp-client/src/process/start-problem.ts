import { constants, type Stats } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; defaults to the working directory of this service. */
  readonly cwd?: string | undefined;
}

/** Longer than any shebang line that Linux accepts. */
const FIRST_LINE_BYTES = 256;

/**
 * Why a program cannot be started; undefined when it can. Checked first, because the wrapper that keeps a program
 * from outliving us would start anyway and write its own error to the log of the server.
 */
export async function startProblem(program: Program): Promise<string | undefined> {
  const { command, cwd } = program;
  if (cwd !== undefined) {
    if (!isAbsolute(cwd)) return `its working folder ${cwd} is not an absolute path`;
    if (!(await statOf(cwd))?.isDirectory()) return `its working folder ${cwd} does not exist`;
  }
  // Windows has other rules for finding programs, and no wrapper there could write to the log.
  if (process.platform === 'win32') return undefined;
  if (!command.includes('/')) return problemOnPath(program);
  const file = resolve(cwd ?? '.', command);
  return problemOf(file, command);
}

async function problemOnPath({ command, env }: Program): Promise<string | undefined> {
  const path = env['PATH'] ?? '';
  for (const folder of path.split(delimiter)) {
    const file = join(folder || '.', command);
    if ((await problemOf(file, command)) === undefined) return undefined;
  }
  return `there is no program ${command} in the PATH (${path})`;
}

async function problemOf(file: string, command: string): Promise<string | undefined> {
  const found = await statOf(file);
  if (!found) return `there is no program ${command}`;
  if (!found.isFile()) return `${command} is no file`;
  try {
    await access(file, constants.X_OK);
  } catch {
    return `${command} is not executable (chmod +x)`;
  }
  const interpreter = await interpreterOf(file);
  const isMissing = interpreter !== undefined && !(await statOf(interpreter));
  return isMissing ? `${command} needs ${interpreter}, which does not exist` : undefined;
}

/** The interpreter in the shebang line of a script. */
async function interpreterOf(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(FIRST_LINE_BYTES), 0);
      const [, path] = /^#![ \t]*([^\s\0]+)/.exec(buffer.toString('utf8', 0, bytesRead)) ?? [];
      return path;
    } finally {
      await handle.close();
    }
  } catch {
    // An executable file may not be readable.
    return undefined;
  }
}

function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}
