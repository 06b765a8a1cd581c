import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Servers, their tools and history, API tokens, the audit log, and settings of the service.
 * A tool's `definition` is json, not jsonb, to keep the order of its keys for clients.
 * `connection_config` and `health_check_url` hold envelopes of encrypted text, never plain values.
 */
export class Foundation1763460000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp.external_servers (
        id uuid PRIMARY KEY,
        name varchar(255) NOT NULL UNIQUE,
        description text,
        transport_type varchar(32) NOT NULL CHECK (transport_type IN ('STDIO', 'SSE', 'HTTP')),
        connection_config jsonb NOT NULL,
        health_check_url jsonb,
        status varchar(32) NOT NULL DEFAULT 'DISCONNECTED'
          CHECK (status IN ('DISCONNECTED', 'CONNECTING', 'CONNECTED', 'DEGRADED', 'ERROR')),
        wanted boolean NOT NULL DEFAULT false,
        protocol_era varchar(16),
        tool_count integer NOT NULL DEFAULT 0,
        warnings jsonb NOT NULL DEFAULT '[]',
        error_message text,
        last_health_check timestamptz,
        consecutive_failures integer NOT NULL DEFAULT 0,
        response_time_ms double precision,
        last_error text,
        registered_at timestamptz NOT NULL DEFAULT now(),
        connected_at timestamptz,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`CREATE INDEX idx_external_servers_status ON mcp.external_servers (status)`);
    await runner.query(`
      CREATE TABLE mcp.tools (
        id serial PRIMARY KEY,
        name text NOT NULL UNIQUE,
        original_name text NOT NULL,
        source_server_id uuid REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        is_external boolean NOT NULL DEFAULT false,
        title text,
        description text NOT NULL DEFAULT '',
        input_schema json NOT NULL,
        definition json NOT NULL,
        content_hash varchar(64) NOT NULL,
        skill_ids text[] NOT NULL DEFAULT '{}',
        primary_skill_id text,
        is_classified boolean NOT NULL DEFAULT false,
        discovered_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE INDEX idx_tools_source_server ON mcp.tools (source_server_id)
      WHERE source_server_id IS NOT NULL`);
    await runner.query(`
      CREATE TABLE mcp.server_connection_history (
        id bigserial PRIMARY KEY,
        server_id uuid NOT NULL REFERENCES mcp.external_servers (id) ON DELETE CASCADE,
        event_type varchar(32) NOT NULL,
        details jsonb NOT NULL DEFAULT '{}',
        timestamp timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE INDEX idx_server_connection_history_server
      ON mcp.server_connection_history (server_id, id)`);
    await runner.query(`
      CREATE TABLE mcp.audit_log (
        id bigserial PRIMARY KEY,
        event varchar(64) NOT NULL,
        outcome varchar(16) NOT NULL CHECK (outcome IN ('success', 'refused', 'failure')),
        actor varchar(255) NOT NULL,
        ip_address varchar(64),
        server_id uuid,
        server_name varchar(255),
        details jsonb NOT NULL DEFAULT '{}',
        timestamp timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`CREATE INDEX idx_audit_log_timestamp ON mcp.audit_log (timestamp)`);
    await runner.query(`CREATE INDEX idx_audit_log_event ON mcp.audit_log (event, id)`);
    await runner.query(`
      CREATE INDEX idx_audit_log_server ON mcp.audit_log (server_id, id)
      WHERE server_id IS NOT NULL`);
    await runner.query(`
      CREATE TABLE mcp.api_tokens (
        name varchar(100) PRIMARY KEY,
        token_hash varchar(64) NOT NULL UNIQUE,
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE TABLE mcp.settings (
        key varchar(100) PRIMARY KEY,
        value jsonb NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE mcp.settings`);
    await runner.query(`DROP TABLE mcp.api_tokens`);
    await runner.query(`DROP TABLE mcp.audit_log`);
    await runner.query(`DROP TABLE mcp.server_connection_history`);
    await runner.query(`DROP TABLE mcp.tools`);
    await runner.query(`DROP TABLE mcp.external_servers`);
  }
}
