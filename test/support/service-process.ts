import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServiceProcess {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  /** Everything written to stdout and stderr so far. */
  readonly output: () => string;
  /** Resolves when the process is gone; its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
}

const MAIN = 'dist/apps/aggregator/src/main.js';
const START_DEADLINE_MS = 30_000;

/** The built service as its own process, as `npm start` runs it, in the given data folder. */
export async function startProcess(
  dataDir: string,
  settings: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<ServiceProcess> {
  const addressFile = join(dataDir, 'address');
  rmSync(addressFile, { force: true });
  const running = launch(dataDir, settings, args);
  const deadline = Date.now() + START_DEADLINE_MS;
  while (!existsSync(addressFile) || readFileSync(addressFile, 'utf8') === '') {
    const { exitCode, signalCode } = running.child;
    if (exitCode !== null || signalCode !== null)
      throw new Error(`the service ended:\n${running.output()}`);
    if (Date.now() > deadline) throw new Error(`the service does not start:\n${running.output()}`);
    await sleep(20);
  }
  const token =
    settings['MCP_AGGREGATOR_TOKENS']?.split(':').at(-1) ??
    readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
  return { ...running, url: readFileSync(addressFile, 'utf8'), token };
}

/** Only launched: for starts that are meant to fail. */
export function launch(
  dataDir: string,
  settings: Record<string, string> = {},
  args: readonly string[] = [],
): Pick<ServiceProcess, 'child' | 'output' | 'exited'> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env['PATH'],
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: dataDir,
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
