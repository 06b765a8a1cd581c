import type { UpstreamTarget } from '@app/mcp-client';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = process.cwd();
export const fixture = (name: string): string => join(root, 'test/fixtures', name);
const packaged = (name: string): string =>
  join(root, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');

/** A server as a child process, run by this very Node. */
export function stdioPeer(
  script: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): UpstreamTarget & { kind: 'STDIO' } {
  return { kind: 'STDIO', command: process.execPath, args: [script, ...args], env };
}

export const npmServers = {
  everything: () => stdioPeer(packaged('server-everything'), ['stdio']),
  filesystem: (folder: string) => stdioPeer(packaged('server-filesystem'), [folder]),
  memory: (file: string) => stdioPeer(packaged('server-memory'), [], { MEMORY_FILE_PATH: file }),
};

export interface HttpPeer {
  readonly url: string;
  readonly process: ChildProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A fixture that listens on a free port of its own and prints its URL. */
export async function httpPeer(script: string, args: readonly string[] = []): Promise<HttpPeer> {
  const child = spawn(process.execPath, [fixture(script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Not inherited: Jest waits for the output of a peer that a failed suite has left.
  child.stderr.pipe(process.stderr, { end: false });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url, process: child, stop: (signal) => stop(child, signal) };
}

/** server-everything over HTTP; it needs a given port. */
export async function everythingOverHttp(kind: 'streamableHttp' | 'sse'): Promise<HttpPeer> {
  const port = await freePort();
  const child = spawn(process.execPath, [packaged('server-everything'), kind], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PORT: String(port) },
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (/listening|running/.test(line)) break;
  }
  const url = `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`;
  return { url, process: child, stop: (signal) => stop(child, signal) };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** Below the ports that kernels give to outgoing connections, so that none of those takes it before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 30_000 + Math.floor(Math.random() * 2_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Ids of the processes on this machine that were given `marker` in their environment, without zombies. */
export function processesWith(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).includes(marker))
    .map(Number);
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** The Node processes among them, without their wrappers. */
export function nodesWith(marker: string): number[] {
  return processesWith(marker).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/exe`) === readlinkSync('/proc/self/exe');
    } catch {
      return false;
    }
  });
}

/** A process may have ended already: children of a killed one end with it. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}
