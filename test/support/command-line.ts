import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ran } from './run.js';

/** The built program as installed, run by this Node. */
export const program = join(process.cwd(), 'dist/apps/aggregator/src/cli.js');

export interface CommandLine {
  readonly env: Readonly<Record<string, string>>;
  /** Runs `switchboard` with these arguments to its end. */
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  /** The same with text on standard input. */
  readonly pipe: (input: string, ...args: readonly string[]) => Promise<Ran>;
  /** The answer for programs; fails unless the command succeeds. */
  readonly json: (...args: readonly string[]) => Promise<Record<string, unknown>>;
}

/** The command line of a user of this service, who sets nothing but `more`. */
export function commandLine(
  { url, token }: { readonly url: string; readonly token: string },
  more: Readonly<Record<string, string>> = {},
): CommandLine {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SWITCHBOARD_URL: url,
    SWITCHBOARD_TOKEN: token,
    ...more,
  };
  const pipe = async (input: string, ...args: readonly string[]): Promise<Ran> => {
    const child = spawn(process.execPath, [program, ...args], { env });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
    child.stdin.on('error', () => undefined).end(input);
    const [code] = (await once(child, 'close')) as [number];
    return { code, stdout, stderr };
  };
  const run = (...args: readonly string[]): Promise<Ran> => pipe('', ...args);
  const json = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run('--json', ...args);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  return { env, run, pipe, json };
}
