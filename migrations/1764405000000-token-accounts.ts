import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A new secret of a configured token is a new row, and so a new account: what OAuth clients were given ends with it.
 * Clients that register are counted by the network they come from.
 */
export class TokenAccounts1764405000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE mcp.api_tokens ADD COLUMN account uuid NOT NULL DEFAULT gen_random_uuid()',
    );
    await runner.query('ALTER TABLE mcp.oauth_records ADD COLUMN network varchar(64)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.oauth_records DROP COLUMN network');
    await runner.query('ALTER TABLE mcp.api_tokens DROP COLUMN account');
  }
}
