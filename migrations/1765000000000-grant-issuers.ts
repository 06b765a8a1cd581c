import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose users, groups and clients a grant names; null for the grants from before, which count at every issuer. */
export class GrantIssuers1765000000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.grants ADD COLUMN issuer text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.grants DROP COLUMN issuer');
  }
}
