import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For the entries of one server with one event, which were found by reading all entries of the server. The index
 * on (server_id, id) stays: it gives all entries of a server in their order.
 */
export class AuditByServerAndEvent1763510000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX idx_audit_log_server_event ON mcp.audit_log (server_id, event, id)
      WHERE server_id IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX mcp.idx_audit_log_server_event`);
  }
}
