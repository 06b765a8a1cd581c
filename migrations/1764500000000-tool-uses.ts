import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For which queries tools were used: for each tool, view and caller the mean of the vectors of queries, never their
 * text. `caller` is a hash; `model` names the embedding model.
 */
export class ToolUses1764500000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.tool_uses (
        view_id uuid NOT NULL REFERENCES mcp.views (id) ON DELETE CASCADE,
        tool_id integer NOT NULL REFERENCES mcp.tools (id) ON DELETE CASCADE,
        caller varchar(32) NOT NULL,
        model varchar(100) NOT NULL,
        uses real NOT NULL,
        mean bytea NOT NULL,
        used_at timestamptz NOT NULL,
        PRIMARY KEY (view_id, tool_id, caller)
      )`);
    await runner.query('CREATE INDEX tool_uses_by_tool ON mcp.tool_uses (tool_id)');
    await runner.query('CREATE INDEX tool_uses_by_caller ON mcp.tool_uses (caller, used_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.tool_uses');
  }
}
