import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Codes of links that log a browser in, each once. */
export class LoginCodes1764320000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.login_codes (
        code_hash varchar(64) PRIMARY KEY,
        token_hash varchar(64) NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        session_ends_by timestamptz
      )`);
    await runner.query(
      'CREATE INDEX login_codes_by_token ON mcp.login_codes (token_hash, created_at)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.login_codes');
  }
}
