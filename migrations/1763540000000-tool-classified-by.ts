import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who gave a tool its skills, beside the skills, which are repeated there for readers. */
export class ToolClassifiedBy1763540000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE mcp.tools ADD COLUMN classified_by varchar(255)`);
    await runner.query(`
      UPDATE mcp.tools t
      SET classified_by = CASE WHEN c.is_override THEN 'human' ELSE c.classified_by END
      FROM mcp.tool_classifications c WHERE c.tool_id = t.id AND t.is_classified`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE mcp.tools DROP COLUMN classified_by`);
  }
}
