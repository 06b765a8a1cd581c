import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The outcome of the last reading of a server's lists: tools that were left out because other servers use up the
 * limit over all servers, when its list of tools was last read or could not be read, and by kind why a list could
 * not be read.
 */
export class ToolLists1763535000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE mcp.external_servers
        ADD COLUMN tools_left_out integer NOT NULL DEFAULT 0,
        ADD COLUMN tools_read_at timestamptz,
        ADD COLUMN list_failures jsonb NOT NULL DEFAULT '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE mcp.external_servers
        DROP COLUMN tools_left_out, DROP COLUMN tools_read_at, DROP COLUMN list_failures`);
  }
}
