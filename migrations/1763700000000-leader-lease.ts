import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Migrations that older code works with, so that versions may run side by side; and which process leads: one row.
 * `term` counts the leaders and is a key, because PostgreSQL makes a change of a key wait for transactions that hold
 * the row FOR KEY SHARE, and no other change.
 */
export class LeaderLease1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.leader_lease (
        is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
        term bigint NOT NULL UNIQUE,
        holder uuid,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query(`INSERT INTO mcp.leader_lease (term, expires_at) VALUES (0, '-infinity')`);
    await runner.query(`CREATE TABLE mcp.compatible_migrations (name text PRIMARY KEY)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.compatible_migrations`);
    await runner.query(`DROP TABLE mcp.leader_lease`);
  }
}
