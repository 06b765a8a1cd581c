import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose credentials calls of a server are made with. */
export class ServerCredentialMode1764410000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      "ALTER TABLE mcp.external_servers ADD COLUMN credentials varchar(20) NOT NULL DEFAULT 'shared'",
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.external_servers DROP COLUMN credentials');
  }
}
