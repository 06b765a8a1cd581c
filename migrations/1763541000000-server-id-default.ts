import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rows of servers that are written by hand, as the data model allows, get an id too. */
export class ServerIdDefault1763541000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE mcp.external_servers ALTER COLUMN id SET DEFAULT gen_random_uuid()`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE mcp.external_servers ALTER COLUMN id DROP DEFAULT`);
  }
}
