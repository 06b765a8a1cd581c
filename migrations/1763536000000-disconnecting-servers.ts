import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONSTRAINT = 'external_servers_status_check';

/** A server whose pending calls end before its session is closed has a status of its own. */
export class DisconnectingServers1763536000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE mcp.external_servers DROP CONSTRAINT ${CONSTRAINT}`);
    await runner.query(`
      ALTER TABLE mcp.external_servers ADD CONSTRAINT ${CONSTRAINT} CHECK (status IN
        ('DISCONNECTED', 'CONNECTING', 'CONNECTED', 'DEGRADED', 'DISCONNECTING', 'ERROR'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `UPDATE mcp.external_servers SET status = 'DISCONNECTED' WHERE status = 'DISCONNECTING'`,
    );
    await runner.query(`ALTER TABLE mcp.external_servers DROP CONSTRAINT ${CONSTRAINT}`);
    await runner.query(`
      ALTER TABLE mcp.external_servers ADD CONSTRAINT ${CONSTRAINT} CHECK (status IN
        ('DISCONNECTED', 'CONNECTING', 'CONNECTED', 'DEGRADED', 'ERROR'))`);
  }
}
