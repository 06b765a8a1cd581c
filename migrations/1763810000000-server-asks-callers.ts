import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether a server asks its callers questions that name no call, so that its next process serves one client at a time. */
export class ServerAsksCallers1763810000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE mcp.external_servers ADD COLUMN asks_callers boolean NOT NULL DEFAULT false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.external_servers DROP COLUMN asks_callers');
  }
}
