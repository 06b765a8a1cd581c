import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For the entries of one actor or one tool, those that did not succeed, and those that are no calls of tools, of which
 * there may be few among a million calls.
 */
export class AuditFilters1764345000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX idx_audit_log_actor ON mcp.audit_log (actor, id)`);
    await runner.query(`
      CREATE INDEX idx_audit_log_tool ON mcp.audit_log ((details ->> 'tool'), id)
      WHERE (details ->> 'tool') IS NOT NULL`);
    await runner.query(`
      CREATE INDEX idx_audit_log_problem ON mcp.audit_log (outcome, id)
      WHERE outcome <> 'success'`);
    await runner.query(`
      CREATE INDEX idx_audit_log_change ON mcp.audit_log (id)
      WHERE event <> 'tool.called'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX mcp.idx_audit_log_change`);
    await runner.query(`DROP INDEX mcp.idx_audit_log_problem`);
    await runner.query(`DROP INDEX mcp.idx_audit_log_tool`);
    await runner.query(`DROP INDEX mcp.idx_audit_log_actor`);
  }
}
