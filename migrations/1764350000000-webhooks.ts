import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhooks, and the events that they have not been sent yet. A lane is a server, whose events are sent in the order of
 * their ids; events about no server share one.
 */
export class Webhooks1764350000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.webhooks (
        id uuid PRIMARY KEY,
        url text NOT NULL,
        description varchar(200),
        topics varchar(20)[] NOT NULL,
        server_ids uuid[],
        enabled boolean NOT NULL,
        secret jsonb NOT NULL,
        created_by varchar(255) NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        delivered_at timestamptz,
        failing_since timestamptz,
        last_error text,
        dead bigint NOT NULL DEFAULT 0
      )`);
    await runner.query(`
      CREATE TABLE mcp.webhook_deliveries (
        id bigserial PRIMARY KEY,
        webhook_id uuid NOT NULL REFERENCES mcp.webhooks (id) ON DELETE CASCADE,
        lane varchar(36) NOT NULL,
        topic varchar(20) NOT NULL,
        body text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        next_at timestamptz NOT NULL DEFAULT now(),
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(
      'CREATE INDEX webhook_deliveries_by_lane ON mcp.webhook_deliveries (webhook_id, lane, id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp.webhook_deliveries');
    await runner.query('DROP TABLE mcp.webhooks');
  }
}
