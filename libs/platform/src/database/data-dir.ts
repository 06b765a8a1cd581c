import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class DataDirInUse extends Error {
  constructor(dataDir: string) {
    super(
      `Another Switchboard already uses the data folder ${dataDir}. Stop it, or give this one its own folder with MCP_AGGREGATOR_DATA_DIR.`,
    );
  }
}

/**
 * Makes the folder and holds it for this process alone: two processes in one embedded database
 * destroy it. The hold is a listening local socket, because the operating system drops it even
 * after `kill -9`; a lock file would have to guess whether its owner still lives.
 */
export async function holdDataDir(dataDir: string): Promise<Server> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const name = `switchboard-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 24)}`;
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new DataDirInUse(dataDir) : error),
    );
    server.listen(addressOf(name), resolve);
  });
  server.unref();
  return server;
}

function addressOf(name: string): string {
  switch (process.platform) {
    case 'linux':
      return `\0${name}`; // abstract: no file, gone with the process
    case 'win32':
      return `\\\\.\\pipe\\${name}`;
    default:
      return join(tmpdir(), `${name}.sock`);
  }
}
