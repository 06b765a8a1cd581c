import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who is asked what in an aggregated query: rules in their order, and what differs from the default per server. */
export class QuerySettings1763480000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.query_rules (
        position integer PRIMARY KEY,
        pattern text NOT NULL,
        servers text[] NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE mcp.query_servers (
        server_id uuid PRIMARY KEY REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        enabled boolean NOT NULL,
        tool text,
        argument text,
        arguments json NOT NULL,
        weight double precision NOT NULL CHECK (weight > 0)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.query_servers`);
    await runner.query(`DROP TABLE mcp.query_rules`);
  }
}
