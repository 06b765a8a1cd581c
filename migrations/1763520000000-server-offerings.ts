import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Prompts, resources and resource templates as each server listed them last, so that a URI belongs to the same
 * server after a restart and in every replica. A list is stored in parts, one definition a line; a list without
 * definitions has one empty part. Warnings about them have a column of their own, apart from warnings about tools,
 * because the two are written at different times.
 */
export class ServerOfferings1763520000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.server_offerings (
        server_id uuid NOT NULL REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        kind varchar(32) NOT NULL,
        part integer NOT NULL,
        items text NOT NULL,
        PRIMARY KEY (server_id, kind, part)
      )`);
    await runner.query(
      `ALTER TABLE mcp.external_servers ADD COLUMN offering_warnings jsonb NOT NULL DEFAULT '[]'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE mcp.external_servers DROP COLUMN offering_warnings`);
    await runner.query(`DROP TABLE mcp.server_offerings`);
  }
}
