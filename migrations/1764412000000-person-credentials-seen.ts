import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the token of a person was last configured: another person may get a token of the same name later. */
export class PersonCredentialsSeen1764412000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE mcp.person_credentials ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now()',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.person_credentials DROP COLUMN seen_at');
  }
}
