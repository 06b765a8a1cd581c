import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The authorization server for MCP clients: its records, what people granted, and the keys of its tokens. */
export class OAuth1764400000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.oauth_records (
        kind varchar(40) NOT NULL,
        id_hash varchar(64) NOT NULL,
        grant_id uuid,
        payload jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        consumed_at timestamptz,
        expires_at timestamptz,
        PRIMARY KEY (kind, id_hash)
      )`);
    await runner.query('CREATE INDEX oauth_records_by_grant ON mcp.oauth_records (grant_id)');
    await runner.query('CREATE INDEX oauth_records_by_expiry ON mcp.oauth_records (expires_at)');
    await runner.query(`
      CREATE TABLE mcp.oauth_grants (
        id uuid PRIMARY KEY,
        account varchar(300) NOT NULL,
        person varchar(255) NOT NULL,
        client_id varchar(2048) NOT NULL,
        client_hash varchar(64) NOT NULL,
        client_name varchar(200),
        client_domain varchar(255),
        redirect_host varchar(300) NOT NULL,
        scopes text[] NOT NULL,
        resource varchar(2048) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query(
      'CREATE INDEX oauth_grants_by_account ON mcp.oauth_grants (account, client_hash)',
    );
    await runner.query('CREATE INDEX oauth_grants_by_client ON mcp.oauth_grants (client_hash)');
    await runner.query(`
      CREATE TABLE mcp.oauth_keys (
        kid varchar(64) PRIMARY KEY,
        key jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.oauth_keys');
    await runner.query('DROP TABLE mcp.oauth_grants');
    await runner.query('DROP TABLE mcp.oauth_records');
  }
}
