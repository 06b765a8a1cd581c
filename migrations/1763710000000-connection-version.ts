import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Grows when the sessions of a server have to be closed: another configuration, or a disconnect by request. Every
 * replica compares it with its own session, so that a change of leader closes none.
 */
export class ConnectionVersion1763710000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE mcp.external_servers ADD COLUMN connection_version integer NOT NULL DEFAULT 1',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.external_servers DROP COLUMN connection_version');
  }
}
