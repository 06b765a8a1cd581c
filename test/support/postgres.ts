import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** Set by test/support/global-setup.mjs. */
const SERVERS = {
  PostgreSQL: process.env['TEST_POSTGRES_URL'],
  'PostgreSQL 15': process.env['TEST_POSTGRES_15_URL'],
};
export type PostgresVersion = keyof typeof SERVERS;

/** The one from npm, and that of Debian where it is installed. */
export const postgresVersions: readonly PostgresVersion[] = SERVERS['PostgreSQL 15']
  ? ['PostgreSQL', 'PostgreSQL 15']
  : ['PostgreSQL'];

/** A new database in a PostgreSQL of this test run, empty or a copy of another one; its URL. */
export async function createDatabase({
  copyOf,
  version = 'PostgreSQL',
}: { copyOf?: string | undefined; version?: PostgresVersion } = {}): Promise<string> {
  const server = SERVERS[version];
  if (!server) throw new Error(`test/support/global-setup.mjs started no ${version}`);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  const template = copyOf && ` TEMPLATE ${new URL(copyOf).pathname.slice(1)}`;
  await client.query(`CREATE DATABASE ${name}${template ?? ''}`);
  await client.end();
  return `${server}/${name}`;
}

/** Every row of every table, as text. */
export async function dump(database: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'mcp'",
    );
    const rows: string[] = [];
    for (const { name } of tables.rows) {
      const found = await client.query<{ row: string }>(`SELECT t::text AS row FROM mcp.${name} t`);
      rows.push(...found.rows.map(({ row }) => `${name}: ${row}`));
    }
    return rows;
  } finally {
    await client.end();
  }
}
