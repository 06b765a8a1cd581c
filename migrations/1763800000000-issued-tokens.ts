import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tokens that were issued by request. A table of their own, because every start makes `mcp.api_tokens` equal to the
 * configured tokens, also a start of an older version.
 */
export class IssuedTokens1763800000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.issued_tokens (
        id uuid PRIMARY KEY,
        name varchar(100) NOT NULL UNIQUE,
        scopes text[] NOT NULL,
        token_hash varchar(64) NOT NULL UNIQUE,
        previous_hash varchar(64),
        previous_until timestamptz,
        created_by varchar(255) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        last_used_at timestamptz
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.issued_tokens');
  }
}
