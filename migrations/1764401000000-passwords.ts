import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Passwords of people who have a token, and invitations to choose one. */
export class Passwords1764401000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.passwords (
        token_id uuid PRIMARY KEY REFERENCES mcp.issued_tokens (id) ON DELETE CASCADE,
        password_hash varchar(200),
        invitation_hash varchar(64) UNIQUE,
        invitation_ends_at timestamptz,
        failures integer NOT NULL DEFAULT 0,
        locked_until timestamptz
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.passwords');
  }
}
