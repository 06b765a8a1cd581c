import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Skills a tool may have, with a confidence too low to assign them, and the server whose tool led to a suggested new
 * skill, so that one server cannot fill the list.
 */
export class SuggestedSkills1763550000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE mcp.tool_classifications ADD COLUMN unsure jsonb NOT NULL DEFAULT '[]'`,
    );
    await runner.query(`ALTER TABLE mcp.skill_suggestions ADD COLUMN server_id uuid`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE mcp.skill_suggestions DROP COLUMN server_id`);
    await runner.query(`ALTER TABLE mcp.tool_classifications DROP COLUMN unsure`);
  }
}
