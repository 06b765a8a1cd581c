import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A new, empty database in the PostgreSQL of this test run; its URL. */
export async function createDatabase(): Promise<string> {
  const server = process.env['TEST_POSTGRES_URL'];
  if (!server) throw new Error('TEST_POSTGRES_URL is set by test/support/global-setup.mjs');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return `${server}/${name}`;
}
