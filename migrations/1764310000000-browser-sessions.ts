import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Logins of browsers. They refer to a token by its hash and not by a key: configured tokens and issued ones are in
 * different tables, and a session ends with its token because that is looked up at each request.
 */
export class BrowserSessions1764310000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.browser_sessions (
        id_hash varchar(64) PRIMARY KEY,
        token_hash varchar(64) NOT NULL,
        created_at timestamptz NOT NULL,
        last_used_at timestamptz NOT NULL,
        ends_at timestamptz NOT NULL
      )`);
    await runner.query(
      'CREATE INDEX browser_sessions_by_token ON mcp.browser_sessions (token_hash, last_used_at)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.browser_sessions');
  }
}
