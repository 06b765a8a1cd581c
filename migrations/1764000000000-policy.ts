import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Views, grants and overrides. The view `default` is what `/mcp` offers; it includes everything and is granted to
 * anyone, so that nothing changes for a deployment without a policy.
 */
export class Policy1764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.policy_versions (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        version bigint NOT NULL
      )`);
    await runner.query(`INSERT INTO mcp.policy_versions (version) VALUES (1)`);
    await runner.query(`
      CREATE TABLE mcp.views (
        id uuid PRIMARY KEY,
        slug varchar(63) NOT NULL UNIQUE,
        title varchar(200),
        description text,
        budget_tokens integer,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE TABLE mcp.view_rules (
        view_id uuid NOT NULL REFERENCES mcp.views (id) ON DELETE CASCADE,
        position integer NOT NULL,
        effect varchar(10) NOT NULL CHECK (effect IN ('include', 'exclude')),
        server_id uuid REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        kind varchar(10) NOT NULL CHECK (kind IN ('tool', 'prompt', 'resource', 'any')),
        name_pattern varchar(500),
        skill_id varchar(255),
        annotation varchar(20) CHECK (annotation IN ('read_only', 'destructive', 'idempotent', 'open_world')),
        PRIMARY KEY (view_id, position)
      )`);
    await runner.query('CREATE INDEX view_rules_by_server ON mcp.view_rules (server_id)');
    await runner.query(`
      CREATE TABLE mcp.grants (
        id uuid PRIMARY KEY,
        subject_kind varchar(10) NOT NULL CHECK (subject_kind IN ('token', 'user', 'group', 'client', 'anyone')),
        subject varchar(255) NOT NULL,
        view_id uuid NOT NULL REFERENCES mcp.views (id) ON DELETE CASCADE,
        level varchar(20) NOT NULL CHECK (level IN ('read', 'call_read_only', 'call')),
        expires_at timestamptz,
        calls_per_minute integer,
        created_by varchar(255) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (subject_kind, subject, view_id)
      )`);
    await runner.query('CREATE INDEX grants_by_view ON mcp.grants (view_id)');
    await runner.query(`
      CREATE TABLE mcp.tool_overrides (
        id uuid PRIMARY KEY,
        view_id uuid REFERENCES mcp.views (id) ON DELETE CASCADE,
        server_id uuid NOT NULL REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        tool varchar(255) NOT NULL,
        name varchar(64),
        title varchar(200),
        description text,
        annotations jsonb,
        hidden_arguments text[] NOT NULL DEFAULT '{}',
        preset_arguments jsonb NOT NULL DEFAULT '{}',
        budget_tokens integer,
        basis_hash varchar(64) NOT NULL,
        updated_by varchar(255) NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    // NULLs are distinct in a unique constraint, and an override for everywhere has no view.
    await runner.query(`
      CREATE UNIQUE INDEX tool_overrides_by_tool ON mcp.tool_overrides
        (server_id, tool, (coalesce(view_id, '00000000-0000-0000-0000-000000000000'::uuid)))`);
    await runner.query(`
      CREATE TABLE mcp.policy_history (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        change varchar(50) NOT NULL,
        subject varchar(500) NOT NULL,
        before json,
        after json,
        actor varchar(255) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      INSERT INTO mcp.views (id, slug, title, description)
      VALUES ('00000000-0000-4000-8000-000000000001', 'default', 'Everything',
              'What /mcp, /mcp/search, /mcp/servers/{name} and the REST API offer')`);
    await runner.query(`
      INSERT INTO mcp.view_rules (view_id, position, effect, kind)
      VALUES ('00000000-0000-4000-8000-000000000001', 0, 'include', 'any')`);
    await runner.query(`
      INSERT INTO mcp.grants (id, subject_kind, subject, view_id, level, created_by)
      VALUES ('00000000-0000-4000-8000-000000000002', 'anyone', '', '00000000-0000-4000-8000-000000000001',
              'call', 'system')`);
    await runner.query(`
      ALTER TABLE mcp.issued_tokens
        ADD COLUMN view_id uuid,
        ADD COLUMN view_level varchar(20) CHECK (view_level IN ('read', 'call_read_only', 'call'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.issued_tokens DROP COLUMN view_id, DROP COLUMN view_level');
    for (const table of [
      'policy_history',
      'tool_overrides',
      'grants',
      'view_rules',
      'views',
      'policy_versions',
    ]) {
      await runner.query(`DROP TABLE mcp.${table}`);
    }
  }
}
