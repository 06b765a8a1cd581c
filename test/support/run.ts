import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with empty standard input. */
export async function run(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<Ran> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
