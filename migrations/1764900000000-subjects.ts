import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Kept results belong to a subject, which is longer than a name, and the audit log names it beside the actor: another
 * person may get the same name later.
 */
export class Subjects1764900000000 implements MigrationInterface {
  readonly isCompatible = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mcp.audit_log ADD COLUMN actor_subject varchar(2000)');
    await runner.query('ALTER TABLE mcp.kept_results ALTER COLUMN owner TYPE varchar(2000)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM mcp.kept_results WHERE length(owner) > 255');
    await runner.query('ALTER TABLE mcp.kept_results ALTER COLUMN owner TYPE varchar(255)');
    await runner.query('ALTER TABLE mcp.audit_log DROP COLUMN actor_subject');
  }
}
