import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a key of OAuth tokens that was replaced is not believed any more; null for the one that signs. */
export class OAuthKeyEnds1764811000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.oauth_keys ADD COLUMN ends_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.oauth_keys DROP COLUMN ends_at');
  }
}
