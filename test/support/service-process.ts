import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE } from './env.js';

export interface ServiceProcess {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  /** Everything written to stdout and stderr so far. */
  readonly output: () => string;
  /** Resolves when the process has ended, with its exit code or signal. */
  readonly exited: Promise<number | NodeJS.Signals>;
}

const MAIN = 'dist/apps/aggregator/src/main.js';
const START_DEADLINE_MS = 240_000;

/** The built service as its own process, as `npm start` runs it, in the given data folder. */
export async function startProcess(
  dataDir: string,
  settings: Record<string, string> = {},
  args: readonly string[] = [],
  through: readonly string[] = [],
): Promise<ServiceProcess> {
  const addressFile = join(dataDir, 'address');
  rmSync(addressFile, { force: true });
  const running = launch(dataDir, settings, args, through);
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!existsSync(addressFile) || readFileSync(addressFile, 'utf8') === '') {
    const { exitCode, signalCode } = running.child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(`the service ended:\n${running.output()}`);
    if (Date.now() > deadline) {
      running.child.kill('SIGKILL');
      throw new Error(`the service does not start:\n${running.output()}`);
    }
    await sleep(20);
  }
  const token =
    settings['MCP_AGGREGATOR_TOKENS']?.split(':').at(-1) ??
    readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
  return { ...running, url: readFileSync(addressFile, 'utf8'), token };
}

/**
 * Does not wait until it listens: for starts that are expected to fail. `through` is a command that runs it, such as
 * `unshare`.
 */
export function launch(
  dataDir: string,
  settings: Record<string, string> = {},
  args: readonly string[] = [],
  through: readonly string[] = [],
): Pick<ServiceProcess, 'child' | 'output' | 'exited'> {
  const [program = '', ...rest] = [...through, process.execPath, MAIN, ...args];
  const child = spawn(program, rest, {
    env: {
      PATH: process.env['PATH'],
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: dataDir,
      MCP_AGGREGATOR_SHUTDOWN_DELAY: '0',
      MCP_AGGREGATOR_SHUTDOWN_GRACE: '60',
      ...PATIENCE,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  return { child, output: () => output, exited };
}
