import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What each person uses a server with. `state` is an envelope of encrypted text, bound to the server and the person.
 * `generation` changes with the credentials, so that sessions which were opened with others end. The link is the page
 * where the person gives them; `question_hash` finds the row when an authorization server answers.
 */
export class PersonCredentials1764411000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.person_credentials (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        server_id uuid NOT NULL REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        subject text NOT NULL,
        person varchar(255) NOT NULL,
        state jsonb,
        needed boolean NOT NULL DEFAULT true,
        generation uuid NOT NULL DEFAULT gen_random_uuid(),
        scopes text,
        expires_at timestamptz,
        connected_at timestamptz,
        link_id varchar(43) UNIQUE,
        link_until timestamptz,
        question_hash varchar(64) UNIQUE,
        browser_hash varchar(64),
        held_until timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (server_id, subject)
      )`);
    await runner.query(
      'CREATE INDEX person_credentials_by_subject ON mcp.person_credentials (subject)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.person_credentials');
  }
}
