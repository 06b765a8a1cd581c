import { startPostgres } from './embedded-postgres.mjs';

/** One PostgreSQL for the whole run; each spec creates its own database in it. */
export default async function startTestPostgres() {
  // Durability is not needed for test data.
  const postgres = await startPostgres(['-c', 'fsync=off', '-c', 'max_connections=300']);
  process.env.TEST_POSTGRES_URL = postgres.url;
  globalThis.testPostgres = postgres;
}
