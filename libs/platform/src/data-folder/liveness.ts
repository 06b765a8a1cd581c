import { closeSync, constants, openSync, type Stats, statSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../errors/error-code.js';

/** How often a holder updates its record. */
export const BEAT_MS = 2_000;
/** A record that is unchanged in this many checks belongs to a dead process: 15 s. */
export const LOOK_EVERY_MS = 250;
const LOOKS = 60;
const CONNECT_WITHIN_MS = 1_000;
/** sockaddr_un holds 104 to 108 bytes. */
const MAX_SOCKET_PATH = 100;

/**
 * A socket in the folder tells whether the process that listens on it is alive: the kernel closes it with the process,
 * also after `kill -9`, and finds it by its file in any namespace.
 */
export class HolderSocket {
  private folder: number | undefined;
  private server: Server | undefined;

  constructor(private readonly lockDir: string) {}

  /** False where the file system or the platform does not support Unix sockets. */
  async listen(id: string): Promise<boolean> {
    const server = createServer((socket) => socket.destroy());
    try {
      const path = this.pathOf(id);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, resolve);
      });
    } catch {
      return false;
    }
    server.on('error', () => undefined);
    server.unref();
    this.server = server;
    return true;
  }

  /** Result of connecting to the socket of another process. */
  ask(id: string): Promise<'lives' | 'refuses' | 'unclear'> {
    return new Promise((resolve) => {
      const socket = createConnection(this.pathOf(id));
      socket.setTimeout(CONNECT_WITHIN_MS);
      const end = (answer: 'lives' | 'refuses' | 'unclear'): void => {
        socket.destroy();
        resolve(answer);
      };
      socket.once('connect', () => end('lives'));
      socket.once('timeout', () => end('unclear'));
      socket.on('error', (error) => {
        // EAGAIN: a stopped process whose backlog is full.
        if (errorCode(error) === 'EAGAIN') end('lives');
        else end(errorCode(error) === 'ECONNREFUSED' ? 'refuses' : 'unclear');
      });
    });
  }

  close(): void {
    this.server?.close();
    if (this.folder !== undefined) closeSync(this.folder);
    this.server = undefined;
    this.folder = undefined;
  }

  private pathOf(id: string): string {
    if (process.platform === 'win32') return `\\\\.\\pipe\\switchboard-${id}`;
    const path = join(this.lockDir, `${id}.sock`);
    if (process.platform !== 'linux' || Buffer.byteLength(path) <= MAX_SOCKET_PATH) return path;
    this.folder ??= openSync(this.lockDir, constants.O_RDONLY | constants.O_DIRECTORY);
    return `/proc/self/fd/${this.folder}/${id}.sock`;
  }
}

/**
 * For a process without a reachable socket, such as one on another machine: whether its record changes. Counts checks
 * instead of time, so neither a changed clock nor a suspended machine makes a live process look dead.
 */
export async function isTouched(file: string, lookEveryMs: number): Promise<boolean> {
  const first = freshStat(file);
  for (let look = 0; look < LOOKS; look++) {
    await sleep(lookEveryMs);
    const now = freshStat(file);
    if (!now) return false;
    if (now.mtimeMs !== first?.mtimeMs || now.ino !== first.ino) return true;
  }
  return false;
}

/** Opened first: a network file system answers a plain stat from a cache that is seconds old. */
export function freshStat(file: string): Stats | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (descriptor !== undefined) closeSync(descriptor);
  return found;
}
