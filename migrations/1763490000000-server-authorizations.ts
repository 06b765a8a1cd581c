import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What OAuth brought for a server: tokens, the client that was registered for it, and the question a
 * person has still to answer. `state` is an envelope of encrypted text; the question is found by the
 * hash of what the answer must carry.
 */
export class ServerAuthorizations1763490000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.server_authorizations (
        server_id uuid PRIMARY KEY REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        state jsonb,
        needed boolean NOT NULL DEFAULT false,
        question_hash varchar(64) UNIQUE,
        held_until timestamptz,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.server_authorizations`);
  }
}
