import { DEBIAN_BIN, hasDebianPostgres, startDebianPostgres } from './debian-postgres.mjs';
import { startPostgres } from './embedded-postgres.mjs';

/** One PostgreSQL of each version for the whole run; each spec creates its own database in it. */
export default async function startTestPostgres() {
  // Durability is not needed for test data.
  const flags = ['-c', 'fsync=off', '-c', 'max_connections=300'];
  const [postgres, debian] = await Promise.all([
    startPostgres(flags),
    hasDebianPostgres ? startDebianPostgres(flags) : undefined,
  ]);
  if (!debian) {
    process.stderr.write(`skipped: tests on PostgreSQL 15, because it is not in ${DEBIAN_BIN}\n`);
  }
  process.env.TEST_POSTGRES_URL = postgres.url;
  process.env.TEST_POSTGRES_15_URL = debian?.url ?? '';
  globalThis.testPostgres = [postgres, debian];
}
