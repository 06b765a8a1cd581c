import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Calls by tool and day (UTC), counted by every replica. `latency` counts them by duration, in the buckets of
 * libs/activity. A row with an empty tool has the sums of its server, so that those need not be added up when read.
 */
export class CallDays1764300000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.call_days (
        day date NOT NULL,
        server_id uuid NOT NULL,
        tool varchar NOT NULL,
        calls bigint NOT NULL,
        errors bigint NOT NULL,
        latency bigint[] NOT NULL,
        PRIMARY KEY (day, server_id, tool)
      )`);
    await runner.query('CREATE INDEX call_days_by_server ON mcp.call_days (server_id, tool, day)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.call_days');
  }
}
