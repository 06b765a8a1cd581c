import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.js';

const running = new Set<ChildProcess>();
const MAIN = resolve('dist/apps/aggregator/src/main.js');

export interface SpawnedService {
  readonly url: string;
  /** Everything it wrote so far. */
  readonly output: () => string;
  readonly stop: () => Promise<number | null>;
}

/** The built service as a process of its own, as a user starts it, with nothing but these settings. */
export async function spawnService(
  dataDir: string,
  settings: Record<string, string> = {},
): Promise<SpawnedService> {
  await rm(join(dataDir, 'address'), { force: true }); // of a start before
  const { child, output, exited } = spawnMain(dataDir, settings);
  const url = await Promise.race([
    eventually(() => readFile(join(dataDir, 'address'), 'utf8'), 20_000),
    exited.then((code) => {
      throw new Error(`the service ended with ${code}:\n${output()}`);
    }),
  ]);
  return {
    url,
    output,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** Ends what a failed test left running; for `afterEach`. */
export function killServices(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** For starts that are to fail: what it wrote, and its exit code. */
export async function spawnRefused(
  dataDir: string,
  settings: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const { output, exited } = spawnMain(dataDir, settings);
  return { code: await exited, output: output() };
}

function spawnMain(
  dataDir: string,
  settings: Record<string, string>,
): { child: ChildProcess; output: () => string; exited: Promise<number | null> } {
  let written = '';
  const child = spawn(process.execPath, [MAIN], {
    cwd: dataDir, // where no .env of a developer is
    env: {
      PATH: process.env['PATH'],
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: dataDir,
      ...settings,
    },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (written += text));
  }
  running.add(child);
  const exited = new Promise<number | null>((done) => {
    child.once('close', (code) => {
      running.delete(child);
      done(code);
    });
  });
  return { child, output: () => written, exited };
}
