import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which definitions of a server are offered. `pin_hash` is the hash of the definition that was approved; it is null for
 * the tools of an earlier version, which count as approved. `withheld` says why a tool is not offered; null: it is.
 * `mcp.approvals` has the definitions that wait for a decision, and those of tools that were approved and are no longer
 * listed, so that leaving and returning changed is a change. `trust` null: as the setting says.
 */
export class Approvals1764100000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE mcp.external_servers ADD COLUMN trust varchar(16)
        CHECK (trust IN ('auto', 'pinned', 'review', 'locked'))`);
    await runner.query(`
      ALTER TABLE mcp.tools ADD COLUMN pin_hash varchar(64), ADD COLUMN withheld jsonb`);
    await runner.query(`
      CREATE TABLE mcp.approvals (
        id serial PRIMARY KEY,
        server_id uuid NOT NULL REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        kind varchar(16) NOT NULL CHECK (kind IN ('tool', 'prompt', 'instructions')),
        name text NOT NULL,
        tool_id integer UNIQUE,
        state varchar(16) NOT NULL CHECK (state IN ('PENDING', 'REJECTED', 'APPROVED', 'GONE')),
        approved_hash varchar(64),
        approved_definition json,
        listed_hash varchar(64),
        listed_definition json,
        listed_content_hash varchar(64),
        renamed_from text,
        findings jsonb NOT NULL DEFAULT '[]',
        changed_at timestamptz NOT NULL DEFAULT now(),
        decided_by varchar(255),
        UNIQUE (server_id, kind, name)
      )`);
    await runner.query(`CREATE INDEX idx_approvals_state ON mcp.approvals (state, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.approvals`);
    await runner.query(`ALTER TABLE mcp.tools DROP COLUMN withheld, DROP COLUMN pin_hash`);
    await runner.query(`ALTER TABLE mcp.external_servers DROP COLUMN trust`);
  }
}
