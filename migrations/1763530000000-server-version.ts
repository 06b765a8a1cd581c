import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts the writes of a server's row. An event carries the row that it wrote; the version tells the catalogue whether
 * it already shows that row or a later one.
 */
export class ServerVersion1763530000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE mcp.external_servers ADD COLUMN version integer NOT NULL DEFAULT 1',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.external_servers DROP COLUMN version');
  }
}
